import { Flag, Name, NonEmptyText, Optional } from '../fields.js';

/**
 * `POST /v1/freezes`: one tool's switch, one agent's (and of those that work for it), one agent's for one tool, or the whole
 * tenant's. In a name `*` stands for any run of characters; a switch is taken back under the name that it was pressed with.
 */
export class SwitchFreeze {
  @Optional() @Name() tool?: string;
  @Optional() @Name() agent?: string;
  @Flag() on: boolean;
  @NonEmptyText(4_000) reason: string;
}
