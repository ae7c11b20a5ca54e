import { Flag, Name, NonEmptyText, Optional } from '../fields.js';

/** `POST /v1/freezes`: one tool's switch, one agent's, one agent's for one tool, or the whole tenant's. */
export class SwitchFreeze {
  @Optional() @Name() tool?: string;
  @Optional() @Name() agent?: string;
  @Flag() on: boolean;
  @NonEmptyText(4_000) reason: string;
}
