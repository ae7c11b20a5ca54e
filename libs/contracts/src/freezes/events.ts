import { Flag, Int, Name, NonEmptyText, Optional, Sealed } from '../fields.js';

/** More than anybody will ever press. */
export const MOST_SWITCHES = 100_000;

/** From now on, until it is switched back, what it names is not used, and nothing but people approves it (`policy/freeze.ts`). */
export class FreezeSwitched {
  @Optional() @Name() tool?: string;
  @Optional() @Name() agent?: string;
  @Flag() on: boolean;
  @NonEmptyText(4_000) @Sealed() reason: string;
  /** The place in the tenant's story of switches: `freeze.<n>`. */
  @Int(1, MOST_SWITCHES) n: number;
}

export type FreezeEvent = { readonly type: 'FreezeSwitched'; readonly data: FreezeSwitched };
