import type { TurnKey } from '#contracts/ids';

export const CHANGES = Symbol('what tells that a turn has changed');

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
export async function awaitChange<State>(changes: TurnChanges, waiting: Waiting<State>): Promise<State> {
  const { turnKey, seconds, gone, read, isDone } = waiting;
  const over = new AbortController();
  const stop = () => over.abort();
  const timer = setTimeout(stop, gone.aborted ? 0 : seconds * 1_000);
  gone.addEventListener('abort', stop, { once: true });
  try {
    while (!over.signal.aborted) {
      const changed = changes.untilChanged(turnKey, over.signal);
      const state = await read();
      if (isDone(state)) return state;
      await changed;
    }
    return await read();
  } finally {
    clearTimeout(timer);
    gone.removeEventListener('abort', stop);
    stop();
  }
}
