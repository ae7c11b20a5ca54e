import fc from 'fast-check';
import { digestOf } from '#contracts/canonical';
import { tryProperty, type Budget, type Outcome } from '../campaign.js';
import type { Api } from '../../support/api.js';
import { WatchedWorld } from '../watched-world.js';
import { turnIds } from '../turn-ids.js';
import type { Dictionary } from '../generate/valid.js';
import { plainObject } from '../generate/hostile.js';
import { readOperations, type Described } from './operations.js';
import { writtenByRequests, wrongWithAnswer } from './oracle.js';
import { exchange, type Exchange } from './raw-client.js';
import { Requests, type Generated } from './request.js';
import { wireOf } from './wire.js';

const PATIENCE_MS = 30_000;
const PATIENCE_WHERE_IT_MAY_WAIT_MS = 400;
const TRIES_OF_503 = 5;

const { conversations, turns, turnKeys: keys, approvalIds: approvals, grantIds: grants } = turnIds;
const ARGS = [{ to: 'x@example.com' }, { to: 'y@example.com' }];

const RULES = [
  { id: 'a', tools: ['send_*'], when: "args.to == 'x@example.com'", then: 'approve', idempotent: true },
  { id: 'b', tools: ['*'], when: 'args.no == 1', then: 'deny' },
  { id: 'c', tools: ['*'], then: 'require', require: { approvers: { count: 2 }, holdSeconds: 1 } },
];
const QUORUMS = [{ count: 1 }, { count: 2 }, { any: [{ count: 1, groups: ['g'] }, { count: 2 }], denyCount: 2 }];

/** So that requests generated apart mean the same turns, and stories come about: opened, decided, taken, used, ended. */
const DICTIONARY: Dictionary = {
  conversationId: fc.constantFrom(...conversations),
  turnId: fc.constantFrom(...turns),
  supersedes: fc.constantFrom(...turns),
  approvalId: fc.constantFrom(...approvals),
  grantId: fc.constantFrom(...grants),
  tool: fc.constantFrom('send_email', 'send_*', 'pay'),
  when: fc.constantFrom('true', "args.to == 'x@example.com'", 'args.', 'args.all(a, args.all(b, a == b))'),
  rules: fc.subarray(RULES),
  approvers: fc.constantFrom(...QUORUMS),
  escalate: fc.constantFrom([], [{ afterSeconds: 1, approvers: { count: 1 } }]),
  expectedVersion: fc.nat(3),
  leaseId: fc.constantFrom(...keys, ...approvals),
  parkedId: fc.constantFrom(...keys, ...approvals),
  tokenId: fc.constant(`tk_${'a'.repeat(26)}`),
  pool: fc.constantFrom('default', 'other'),
  workerId: fc.constantFrom('w-1', 'w-2'),
  attempt: fc.constantFrom(1, 1, 1, 2),
  argsDigest: fc.constantFrom(...ARGS.map(digestOf)),
  args: fc.oneof({ arbitrary: fc.constantFrom<unknown>(...ARGS), weight: 6 }, { arbitrary: plainObject, weight: 1 }),
  inputSchema: fc.oneof(
    fc.constant({ type: 'object' }),
    plainObject,
    fc.constantFrom(
      { $ref: '#' },
      { type: 'object', properties: { to: { pattern: '(a+)+$' } } },
      { allOf: [{ $ref: '#/allOf/0' }] },
    ),
  ),
  // A list waits up to two seconds for a place that the read model has not reached: rarely worth it here.
  after: fc.constantFrom(...Array.from({ length: 30 }, (_, n) => n), 9_000_000),
  cursor: fc.constantFrom(0, 5, 20),
  waitSeconds: fc.constantFrom(0, 0, 0, 1, 60),
  wait: fc.constantFrom(0, 0, 0, 1, 60),
};

/** Every route of the gateway with generated and damaged requests, one at a time, each answer judged. */
export async function httpCampaign(budget: Budget): Promise<Outcome> {
  const watched = await WatchedWorld.start();
  try {
    const asking = await Asking.at(watched);
    const { runs, findings } = await tryProperty(asking.property(), budget);
    return { name: 'http', runs, findings: [...findings, ...watched.takeTroubles()], figures: asking.figures() };
  } finally {
    await watched.stop();
  }
}

/** Most of the turns that the dictionary names are there from the start. */
async function openTurns(admin: Api): Promise<void> {
  for (const conversationId of conversations)
    for (const [n, turnId] of turns.entries()) {
      if (n % 4 === 0) continue;
      const toolCalls = ARGS.map((args, index) => ({ toolCallId: `call_${index}`, toolName: 'send_email', args }));
      const release = n % 4 === 1 ? 'all' : 'each';
      const body = { conversationId, turnId, agent: { id: 'a' }, release, toolCalls };
      const { status } = await admin.post('/v1/turns', body);
      if (status !== 201) throw new Error(`A turn was not opened: ${status}`);
    }
}

class Asking {
  private readonly counts = new Map<string, number>();

  private constructor(
    private readonly watched: WatchedWorld,
    private readonly described: Described,
    private readonly tokens: ReadonlyMap<string, string>,
  ) {}

  static async at(watched: WatchedWorld): Promise<Asking> {
    const { world } = watched;
    const tokens = new Map([
      ['admin', world.admin().token],
      ['nobody', ''],
      ['forger', `hp_tk_${'a'.repeat(26)}_${'b'.repeat(43)}`],
    ]);
    for (const role of ['agent', 'approver', 'operator', 'auditor'])
      tokens.set(role, (await world.as(`${role}@example.com`, { roles: [role] })).token);
    await openTurns(world.admin());
    return new Asking(watched, await readOperations(world.url), tokens);
  }

  property(): fc.IAsyncProperty<[Generated]> {
    const requests = new Requests(this.described, DICTIONARY, [...this.tokens.keys()]);
    return fc.asyncProperty(requests.any(), (request) => this.judge(request));
  }

  /** How often each route gave each answer. */
  figures(): Outcome['figures'] {
    const all = [...this.counts].sort(([a], [b]) => a.localeCompare(b));
    return { operations: this.described.operations.length, answers: Object.fromEntries(all) };
  }

  private async judge(request: Generated): Promise<void> {
    const { lastSeq } = await this.watched.broker.events.state();
    const answered = await this.send(request);
    this.count(request, answered);
    const troubles = this.watched.takeTroubles();
    if (troubles.length > 0) throw new Error(`A service is in trouble: ${troubles.join('\n')}`);
    if (answered.answers.length === 0 && !mayWait(request) && answered.end !== 'reset')
      throw new Error(`There was no answer (${answered.end})`);
    for (const answer of answered.answers) {
      const wrong = wrongWithAnswer(answer, this.described.problemTypes);
      if (wrong !== undefined) throw new Error(wrong);
    }
    await this.judge503(request, answered);
    await this.judgeLog(request, answered, lastSeq);
  }

  /** An outage ends; what answers 503 to the same request again and again is a bug that says it is an outage. */
  private async judge503(request: Generated, answered: Exchange): Promise<void> {
    let last = answered;
    for (let tries = 0; last.answers.some(({ status }) => status === 503); tries += 1) {
      if (tries === TRIES_OF_503) throw new Error(`It stays unavailable: ${last.answers.at(-1)?.body}`);
      last = await this.send(request);
    }
  }

  /** Who was refused, and whoever only reads, has changed nothing. */
  private async judgeLog({ method }: Generated, { answers, end }: Exchange, before: number): Promise<void> {
    const isRead = method === 'GET' || method === 'HEAD';
    const isRefused =
      end === 'closed' && answers.length > 0 && answers.every(({ status }) => status >= 400 && status !== 503);
    if (!isRead && !isRefused) return;
    const written = await writtenByRequests(this.watched.broker, before);
    if (written.length > 0) throw new Error(`It was refused or a read, and yet there is ${written.join(', ')}`);
  }

  private send(request: Generated): Promise<Exchange> {
    return exchange({
      port: this.watched.port,
      pieces: wireOf(request, this.tokens.get(request.who) ?? ''),
      halfClose: request.framing === 'too short',
      patienceMs: mayWait(request) ? PATIENCE_WHERE_IT_MAY_WAIT_MS : PATIENCE_MS,
      isHead: request.method === 'HEAD',
    });
  }

  private count({ operation, method }: Generated, { answers, end }: Exchange): void {
    const status = answers.map((answer) => answer.status).at(-1) ?? end;
    const key = `${method === operation.method ? '' : 'otherwise '}${operation.method} ${operation.path} ${status}`;
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
  }
}

const OPEN_ENDED = /content-length|transfer-encoding|expect|upgrade|connection/i;

/** A stream, a long poll, or a request of which the server may think that more is to come. */
function mayWait({ operation, target, body, framing, headers, times }: Generated): boolean {
  if (operation.isStream || times > 1 || !(framing === 'length' || framing === 'chunked')) return true;
  if (/[?&]wait=/.test(target) || body.includes('waitSeconds')) return true;
  return headers.some(([name, value]) => OPEN_ENDED.test(name) || /[\r\n]/.test(value));
}
