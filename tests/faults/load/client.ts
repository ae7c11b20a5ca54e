import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '../../support/api.js';
import type { Ledger, Operation } from '../ledger.js';

export interface Answer {
  readonly status: number;
  readonly body: Record<string, any>;
}

export interface Asking {
  readonly op: Operation;
  readonly path: string;
  readonly body?: unknown;
  /** Sent with every try, so that a try that was recorded is found by the next. */
  readonly key?: string | undefined;
  readonly timeoutMs?: number;
  /** For pulls: no answer is as good as an empty one. */
  readonly once?: boolean;
}

const TIMEOUT_MS = 4_000;
const GIVE_UP_MS = 120_000;

/** A client as the contract wants it: asks again with the same key where there is no answer, and believes the one it gets. */
export class Client {
  private turn = 0;

  constructor(
    readonly subject: string,
    private readonly apis: () => readonly Api[],
    private readonly ledger: Ledger,
    private readonly stopped: AbortSignal,
  ) {}

  /** Undefined where no answer came until it gave up: what became of it is not known. */
  async ask({ op, path, body, key, timeoutMs = TIMEOUT_MS, once = false }: Asking): Promise<Answer | undefined> {
    const id = this.ledger.nextId();
    const at = Date.now();
    this.ledger.write({ is: 'asked', id, op, at, by: this.subject, path, ...(key ? { key } : {}), body: body ?? null });
    for (let tries = 0; Date.now() - at < GIVE_UP_MS && !this.stopped.aborted; tries += 1) {
      const answer = await this.tryOnce(
        { method: op === 'read-turn' ? 'GET' : 'POST', path, body, key, timeoutMs },
        tries,
      ).catch((error: unknown) => reasonOf(error));
      if (typeof answer !== 'string' && answer.status < 500 && !itemsOf(answer).some(isUnknown)) {
        this.ledger.write({ is: 'told', id, at: Date.now(), ...answer });
        return answer;
      }
      const why = typeof answer === 'string' ? answer : `${answer.status} ${String(answer.body['type'])}`;
      this.ledger.write({ is: 'unclear', id, at: Date.now(), why });
      if (once) return undefined;
      await sleep(50 + Math.min(tries, 8) * 50, undefined, { signal: this.stopped }).catch(() => undefined);
    }
    return undefined;
  }

  /** The same, with a key of its own. */
  insist = (asking: Asking): Promise<Answer | undefined> => this.ask({ key: randomUUID(), ...asking });

  private async tryOnce({ method, path, body, key, timeoutMs }: Try, tries: number): Promise<Answer> {
    const apis = this.apis();
    const api = apis[(tries + this.turn++) % apis.length];
    if (!api) throw new Error('Nobody to ask');
    const signal = AbortSignal.any([this.stopped, AbortSignal.timeout(timeoutMs)]);
    const headers = {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
    };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const { status, body: answered } = await api.raw(path, { method, headers, signal, ...sent });
    return { status, body: answered };
  }
}

interface Item {
  readonly problem?: { readonly status?: number };
}
const itemsOf = ({ body }: Answer): readonly Item[] => (body['items'] as Item[] | undefined) ?? [];

/** Of many decided in one request, one whose service did not answer. */
const isUnknown = (item: Item): boolean => (item.problem?.status ?? 0) >= 500;

interface Try {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body: unknown;
  readonly key: string | undefined;
  readonly timeoutMs: number;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause as { code?: string } | undefined;
  return cause?.code ?? error.name;
}
