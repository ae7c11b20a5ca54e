import type { TurnKey } from '#contracts/ids';

export interface TurnChanges {
  /** Resolves at the turn's next fact, or when aborted; it counts from the call on. */
  untilChanged(turnKey: TurnKey, signal: AbortSignal): Promise<void>;
}

interface Waiting<State> {
  readonly turnKey: TurnKey;
  readonly seconds: number;
  /** The client has gone. */
  readonly gone: AbortSignal;
  readonly read: () => Promise<State>;
  readonly isDone: (state: State) => boolean;
}

/** Registers first, then reads, then waits: no change falls between the reading and the waiting. */
export async function awaitChange<State>(
  changes: TurnChanges,
  { turnKey, seconds, gone, read, isDone }: Waiting<State>,
): Promise<State> {
  const over = AbortSignal.any([gone, AbortSignal.timeout(seconds * 1_000)]);
  while (!over.aborted) {
    const answered = new AbortController();
    const changed = changes.untilChanged(turnKey, AbortSignal.any([over, answered.signal]));
    const state = await read().catch((error: unknown) => {
      answered.abort();
      throw error;
    });
    if (!isDone(state)) await changed;
    answered.abort();
    if (isDone(state)) return state;
  }
  return read();
}
