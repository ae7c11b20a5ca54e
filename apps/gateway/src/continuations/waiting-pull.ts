import type { ContinueConversation } from '#contracts/continuations/events';
import type { Instant } from '#contracts/ids';
import type { Caller } from '#contracts/roles';
import type { Continuation } from '#fold/continuation';

/** A command that may be offered, and when the broker stored it. */
export interface Stray {
  readonly command: ContinueConversation;
  readonly storedAt: Instant;
}

export interface Given extends Stray {
  readonly continuation: Continuation;
}

export interface PullRequest {
  readonly caller: Caller;
  readonly pool: string;
  readonly workerId: string;
  /** How many at most; 1 where not said. */
  readonly max?: number;
  readonly waitSeconds?: number;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
  /** Asks the orchestrator, with the caller's own token, to make the pool's subscription. */
  readonly preparePool: () => Promise<void>;
}

/** Even who will not wait gives the broker the time to answer once. */
const ONE_LOOK_MS = 300;
/** More than one may come at once: the first does not travel alone. */
const LINGER_MS = 5;

/** One worker's pull while it waits: ended by being full, by its time, or by the client going away. */
export class WaitingPull {
  readonly given: Given[] = [];
  readonly ended: Promise<void>;
  private isOpen = true;
  private end: () => void = () => undefined;
  private readonly timer: NodeJS.Timeout;

  constructor(readonly request: PullRequest) {
    this.ended = new Promise((resolve) => (this.end = resolve));
    this.timer = setTimeout(this.close, Math.max(ONE_LOOK_MS, (request.waitSeconds ?? 0) * 1_000));
    request.signal.addEventListener('abort', this.close, { once: true });
    if (request.signal.aborted) this.close();
  }

  get room(): number {
    return this.isOpen ? (this.request.max ?? 1) - this.given.length : 0;
  }

  get holder(): { readonly workerId: string; readonly tokenId: Caller['tokenId'] } {
    return { workerId: this.request.workerId, tokenId: this.request.caller.tokenId };
  }

  give(given: Given): void {
    this.given.push(given);
    if (this.room === 0) this.close();
    else if (this.given.length === 1) setTimeout(this.close, LINGER_MS);
  }

  readonly close = (): void => {
    this.isOpen = false;
    clearTimeout(this.timer);
    this.request.signal.removeEventListener('abort', this.close);
    this.end();
  };
}
