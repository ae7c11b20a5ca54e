import { setTimeout as sleep } from 'node:timers/promises';

export interface Kept {
  /** Works until aborted. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly broke: (error: unknown) => void;
  readonly pauseMs?: number;
}

/** A loop that breaks is reported and begun again after a pause, so that no outage ends it; until aborted. */
export async function keepRunning({ run, broke, pauseMs = 1_000 }: Kept, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await run(signal);
    } catch (error) {
      if (!signal.aborted) broke(error);
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
