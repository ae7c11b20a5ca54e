import { HoldpointProblem, HoldpointUnreachable, isProblem } from './problems.js';

export interface ClientOptions {
  /** Where the gateway is: `http://127.0.0.1:7400`. */
  readonly url: string;
  readonly token: string;
  /** For how long what is not answered is asked again, in milliseconds; 60,000 where not given. */
  readonly patienceMs?: number;
  readonly fetch?: typeof fetch;
}

export interface Asking {
  readonly signal?: AbortSignal | undefined;
  /** How long this one answer may take, in milliseconds; 15,000 where not given. */
  readonly withinMs?: number;
  /** Instead of the client's own. */
  readonly patienceMs?: number;
}

const WITHIN_MS = 15_000;
const PATIENCE_MS = 60_000;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Requests that are asked again until they are answered. Each write carries an `Idempotency-Key` of its own, so that asking
 * again finds what the first time did.
 */
export class Client {
  readonly url: string;

  constructor(private readonly options: ClientOptions) {
    this.url = options.url.replace(/\/+$/, '');
  }

  get<Answer>(path: string, asking: Asking = {}): Promise<Answer> {
    return this.ask<Answer>(path, { method: 'GET' }, asking);
  }

  post<Answer>(path: string, body: object, asking: Asking = {}): Promise<Answer> {
    const headers = { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() };
    return this.ask<Answer>(path, { method: 'POST', headers, body: JSON.stringify(body) }, asking);
  }

  /** One answer, whatever it is, with the token. */
  fetch(path: string, { headers, ...init }: RequestInit): Promise<Response> {
    const authorization = `Bearer ${this.options.token}`;
    return (this.options.fetch ?? fetch)(`${this.url}${path}`, { ...init, headers: { ...headers, authorization } });
  }

  private async ask<Answer>(path: string, init: RequestInit, asking: Asking): Promise<Answer> {
    const until = Date.now() + (asking.patienceMs ?? this.options.patienceMs ?? PATIENCE_MS);
    for (let tries = 0; ; tries += 1) {
      asking.signal?.throwIfAborted();
      const answered = await this.once<Answer>(path, init, asking).catch((error: unknown) => {
        asking.signal?.throwIfAborted();
        if (error instanceof HoldpointProblem && !isOutage(error)) throw error;
        return { failed: error };
      });
      if (!('failed' in answered)) return answered.value;
      const pause = pauseMs(answered.failed, tries);
      if (Date.now() + pause > until) throw unreachable(this.url, answered.failed);
      await sleep(pause, asking.signal);
    }
  }

  private async once<Answer>(path: string, init: RequestInit, asking: Asking): Promise<{ readonly value: Answer }> {
    const within = AbortSignal.timeout(asking.withinMs ?? WITHIN_MS);
    const signal = asking.signal ? AbortSignal.any([asking.signal, within]) : within;
    const response = await this.fetch(path, { ...init, signal });
    const body: unknown = await response.json();
    if (response.ok) return { value: body as Answer };
    const retryAfter = Number(response.headers.get('retry-after') ?? 0) || 0;
    throw new HoldpointProblem(response.status, body as Record<string, unknown>, retryAfter);
  }
}

const isOutage = (error: HoldpointProblem): boolean => error.status >= 500 || isProblem(error, 'rate-limited');

/** Longer each time, and never in step with others; as long as is asked for where that is said. */
function pauseMs(failed: unknown, tries: number): number {
  const asked = failed instanceof HoldpointProblem ? failed.retryAfter * 1_000 : 0;
  return Math.max(asked, Math.min(LONGEST_PAUSE_MS, 100 * 2 ** Math.min(tries, 10)) * (0.5 + Math.random() / 2));
}

const unreachable = (url: string, cause: unknown): HoldpointUnreachable =>
  new HoldpointUnreachable(
    `Holdpoint at ${url} does not answer: ${cause instanceof Error ? cause.message : String(cause)}`,
    {
      cause,
    },
  );

export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(done, ms);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason instanceof Error ? signal.reason : new Error('Aborted'));
    };
    signal?.addEventListener('abort', abort, { once: true });
    function done() {
      signal?.removeEventListener('abort', abort);
      resolve();
    }
  });
