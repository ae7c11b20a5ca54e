import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Fact } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import type { Instant } from '#contracts/ids';
import { subjectOf, subjects } from '#contracts/subjects';
import type { Request } from '#event-log/handle-command';
import { Unavailable } from '#decider/unavailable';
import { type Appended } from '#event-log/log';
import { MemoryLog } from '#event-log/memory-log';
import { readStory } from '#fold/read';
import { PoliciesInForce } from '#policy/in-force';
import { whenTurnEndedThenCloseApprovals } from './automations/when-turn-ended-then-close-approvals.js';
import { closeTurnApprovals } from './close-turn-approvals.js';
import type { AboutCall, ByCaller } from './domain/call.js';
import {
  after,
  approved,
  callerOf,
  CALL,
  DIGEST,
  ended,
  escalated,
  published,
  recordedAt,
  requested,
  requestOf,
  resumed,
  TENANT,
  TURN_KEY,
  WORKER_TOKEN,
  type Told,
} from './domain/stories-for-spec.js';
import { decide, revoke, use } from './handlers.js';

/** A log that is away when told so. */
class Log extends MemoryLog {
  refuses: (fact: Fact<HoldpointEvent>) => boolean = () => false;

  override append(fact: Fact<HoldpointEvent>): Promise<Appended> {
    return this.refuses(fact) ? Promise.resolve({ is: 'full', why: 'test' }) : super.append(fact);
  }

  async tell(...facts: readonly Told[]): Promise<void> {
    for (const fact of facts) await this.append(recordedAt(fact, 0));
  }

  async types(filter: string): Promise<string[]> {
    return (await readStory(this, filter)).map(({ event }) => event.type);
  }
}

function service(log: Log, now: Instant = after(100)) {
  const unrecorded: unknown[] = [];
  const counted: string[] = [];
  const refusedTries = {
    counted: (why: string) => void counted.push(why),
    unrecorded: (_: unknown, error: unknown) => void unrecorded.push(error),
  };
  const policies = new PoliciesInForce(log);
  return { log, clock: () => Date.parse(now), policies, refusedTries, unrecorded, counted };
}

function asked<Command extends object>(subject: string, said: Command, more: Partial<ByCaller['caller']> = {}) {
  const request: Request<Command & AboutCall, ByCaller> = {
    command: { approvalId: CALL, ...said },
    context: { caller: callerOf(subject, more) },
    tenant: TENANT,
    actor: { kind: 'person', id: subject, via: 'token:test' },
    causationId: 'request:test',
  };
  return request;
}
const approve = { decision: 'approve' } as const;
const deny = { decision: 'deny' } as const;
const story = subjects.story(TENANT, CALL);
const tries = `hp.v1.e1.${TENANT}.${CALL}.try.>`;
const worker = { tokenId: WORKER_TOKEN, roles: ['agent' as const] };

describe('deciding over the log', () => {
  it('of fifty at once one is counted, and the others are told who', async () => {
    const log = new Log();
    await log.tell(requested());
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) => decide(service(log), asked(`p${n}`, n % 2 ? approve : deny))),
    );
    const won = replies.filter((one) => one.ok);
    expect(won).toEqual([{ ok: true, value: { verdict: 'counted', seq: 2 } }]);
    const winner = await log.last(subjects.decision(TENANT, CALL));
    for (const one of replies.filter((each) => !each.ok))
      expect(one).toMatchObject({
        refusal: { reason: 'superseded', approvalId: CALL, winner: { by: winner?.actor.id, seq: 2 } },
      });
    expect(await log.types(tries)).toHaveLength(49);
  });

  it('the same person at once in two windows is counted and a duplicate', async () => {
    const log = new Log();
    await log.tell(requested());
    const replies = await Promise.all([
      decide(service(log), asked('ada', approve)),
      decide(service(log), asked('ada', approve)),
    ]);
    const verdicts = replies.map((one) => one.ok && one.value.verdict).sort();
    expect(verdicts).toEqual(['counted', 'duplicate']);
    expect(replies.map((one) => one.ok && one.value.seq)).toEqual([2, 2]);
  });

  it('the same person again after a stage was reached is a duplicate, where one is enough', async () => {
    const log = new Log();
    const escalate = [{ afterSeconds: 60, approvers: { count: 1 } }];
    await log.tell(published({ approvers: { count: 1, groups: ['on-call'] }, escalate }), requested(), escalated);
    const replies = [];
    for (let n = 0; n < 2; n += 1) replies.push(await decide(service(log), asked('ada', approve)));
    expect(replies).toEqual([
      { ok: true, value: { verdict: 'counted', seq: 4 } },
      { ok: true, value: { verdict: 'duplicate', seq: 4 } },
    ]);
  });

  it('the same request sent again by its Idempotency-Key is the same answer; another body under it is a conflict', async () => {
    const log = new Log();
    await log.tell(requested());
    const keyed = { ...asked('ada', approve), idempotencyKey: 'k' };
    const first = await decide(service(log), keyed);
    expect(await decide(service(log), keyed)).toEqual(first);
    const other = await decide(service(log), { ...asked('ada', deny), idempotencyKey: 'k' });
    expect(other).toMatchObject({ ok: false, refusal: { reason: 'conflict' } });
  });

  it('the first reads no more than how far the turn has come, and the policy', async () => {
    const log = new Log();
    await log.tell(requested());
    const read: string[] = [];
    const last = log.last.bind(log);
    log.last = (filter) => {
      read.push(filter);
      return last(filter);
    };
    expect(await decide(service(log), asked('ada', approve))).toMatchObject({
      ok: true,
      value: { verdict: 'counted' },
    });
    expect(read).toEqual([subjects.story(TENANT, TURN_KEY), subjects.policies(TENANT)]);
  });

  it('another tenant sees nothing', async () => {
    const log = new Log();
    await log.tell(requested());
    const reply = await decide(service(log), { ...asked('ada', approve), tenant: 'other' as never });
    expect(reply).toMatchObject({ ok: false, refusal: { reason: 'not-found' } });
  });

  it.each(['ap_>', 'ap_*', `${CALL}.>`, 'tn_x', ''])('what is no id, "%s", reads nothing', async (approvalId) => {
    const log = new Log();
    await log.tell(requested());
    let reads = 0;
    log.last = () => {
      reads += 1;
      return Promise.resolve(undefined);
    };
    const one = service(log);
    const reply = await decide(one, asked('ada', { ...approve, approvalId: approvalId as never }));
    expect(reply).toMatchObject({ ok: false, refusal: { reason: 'not-found' } });
    expect(reads).toBe(0);
  });
});

describe('a try that came to nothing', () => {
  it('is a fact once, and counted each time', async () => {
    const log = new Log();
    await log.tell(requested(), approved);
    const one = service(log);
    for (let n = 0; n < 3; n += 1) await decide(one, asked('bob', deny));
    expect(await log.types(tries)).toEqual(['DecisionRefused']);
    expect(one.counted).toEqual(['superseded', 'superseded', 'superseded']);
  });

  it('to take back what another gave is one too', async () => {
    const log = new Log();
    await log.tell(requested(), approved);
    expect(await revoke(service(log), asked('bob', { reason: 'no' }))).toMatchObject({
      ok: false,
      refusal: { reason: 'forbidden' },
    });
    const [fact] = await readStory(log, tries);
    expect(fact?.event.data).toMatchObject({ tried: 'revoke', why: 'forbidden' });
  });

  it('on what is not there is none', async () => {
    const log = new Log();
    const one = service(log);
    await decide(one, asked('bob', deny));
    expect({ facts: await log.types(story), counted: one.counted }).toEqual({ facts: [], counted: [] });
  });

  it('is answered truly where the log cannot take the fact, and that is reported', async () => {
    const log = new Log();
    await log.tell(requested(), approved);
    log.refuses = () => true;
    const one = service(log);
    expect(await decide(one, asked('bob', deny))).toMatchObject({ ok: false, refusal: { reason: 'superseded' } });
    expect(one.unrecorded).toEqual([expect.any(Unavailable)]);
  });
});

describe('closing what an ended turn left', () => {
  const three = requested({
    toolCalls: [0, 1, 2].flatMap((n) => requestOf({}, { toolCallId: `call_${n}` }).toolCalls),
  });

  it('takes every call, and does it once', async () => {
    const log = new Log();
    await log.tell(three, approved, ended());
    expect(await closeTurnApprovals(service(log), TENANT, TURN_KEY)).toEqual({
      ok: true,
      value: { seq: 6, recorded: true },
    });
    expect(await log.types(story)).toEqual(['ToolApprovalDecided', 'ToolApprovalRevoked']);
    expect(await closeTurnApprovals(service(log), TENANT, TURN_KEY)).toEqual({
      ok: true,
      value: { seq: 6, recorded: false },
    });
  });

  it('follows from the end, whoever asks', async () => {
    const log = new Log();
    await log.tell(requested(), ended());
    await closeTurnApprovals(service(log), TENANT, TURN_KEY);
    const end = await log.last(subjects.end(TENANT, TURN_KEY));
    expect(await log.last(subjects.decision(TENANT, CALL))).toMatchObject({
      causationId: end?.eventId,
      actor: { kind: 'service', via: 'reaction:turn-ended' },
    });
  });

  it('is refused while the turn is open, and where there is none', async () => {
    const log = new Log();
    expect(await closeTurnApprovals(service(log), TENANT, TURN_KEY)).toMatchObject({
      refusal: { reason: 'not-found' },
    });
    expect(await closeTurnApprovals(service(log), TENANT, 'tn_>' as never)).toMatchObject({
      refusal: { reason: 'not-found' },
    });
    await log.tell(requested());
    expect(await closeTurnApprovals(service(log), TENANT, TURN_KEY)).toMatchObject({
      refusal: { reason: 'not-ready' },
    });
  });

  it('takes back what was approved between its reading and its writing', async () => {
    const log = new Log();
    await log.tell(requested());
    const racing = decide(service(log), asked('ada', approve));
    await log.tell(ended());
    await Promise.all([racing, closeTurnApprovals(service(log), TENANT, TURN_KEY)]);
    const types = await log.types(story);
    expect([['ToolApprovalDecided', 'ToolApprovalRevoked'], ['ToolApprovalDecided']]).toContainEqual(
      types.filter((type) => type !== 'DecisionRefused'),
    );
    const decision = await log.last(subjects.decision(TENANT, CALL));
    expect(types.includes('ToolApprovalRevoked')).toBe(decision?.actor.id === 'ada');
  });

  it('is what the reaction does, again and again until the log shows the end', async () => {
    const log = new Log();
    const end = recordedAt(ended(), 2);
    const { react } = whenTurnEndedThenCloseApprovals(service(log));
    await expect(react(end)).rejects.toThrow(Unavailable);
    await log.tell(requested(), ended());
    await react(end);
    await react(end);
    expect(await log.types(story)).toEqual(['ToolApprovalDecided']);
  });
});

describe('whatever is asked, in whatever order, at whatever moment', () => {
  const take = { attempt: 1, workerId: 'w-1', argsDigest: DIGEST };
  const commands = {
    approve: (one: ReturnType<typeof service>, who: string) => decide(one, asked(who, approve)),
    deny: (one: ReturnType<typeof service>, who: string) => decide(one, asked(who, deny)),
    revoke: (one: ReturnType<typeof service>, who: string) => revoke(one, asked(who, { reason: 'r' })),
    use: (one: ReturnType<typeof service>) => use(one, asked('demo-agent', take, worker)),
    end: async ({ log }: ReturnType<typeof service>) => log.tell(ended()),
    close: (one: ReturnType<typeof service>) => closeTurnApprovals(one, TENANT, TURN_KEY),
  };
  const step = fc.record({
    name: fc.constantFrom(...(Object.keys(commands) as (keyof typeof commands)[])),
    who: fc.constantFrom('ada', 'bob', 'demo-agent'),
    second: fc.integer({ min: 61, max: 200_000 }),
    atOnce: fc.boolean(),
  });

  it('there is at most one decision and one use, nothing is used that was not approved, and each counts once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
        const log = new Log();
        await log.tell(requested(), resumed());
        const running: Promise<unknown>[] = [];
        for (const { name, who, second, atOnce } of steps) {
          const work = commands[name](service(log, after(second)), who);
          running.push(work);
          if (!atOnce) await Promise.all(running);
        }
        const replies = await Promise.all(running);
        const facts = await readStory(log, story);
        const decisions = facts.filter(({ subject }) => subject === subjects.decision(TENANT, CALL));
        const uses = facts.filter(({ subject }) => subject === subjects.use(TENANT, CALL));
        expect(decisions.length).toBeLessThanOrEqual(1);
        expect(uses.length).toBeLessThanOrEqual(1);
        if (uses.length > 0) expect(decisions[0]?.event.data).toMatchObject({ decision: 'approved' });
        const said = (word: string) => replies.filter((one) => JSON.stringify(one ?? null).includes(word)).length;
        expect(said('"counted"')).toBe(decisions.filter(({ actor }) => actor.kind === 'person').length);
        expect(said('"recorded":true')).toBeLessThanOrEqual(2);
      }),
      { numRuns: 60 },
    );
  });

  it('every fact is written under its own subject', async () => {
    const log = new Log();
    await log.tell(requested(), resumed());
    await decide(service(log), asked('ada', approve));
    await use(service(log), asked('demo-agent', take, worker));
    for (const fact of await readStory(log, 'hp.v1.>')) expect(fact.subject).toBe(subjectOf(TENANT, fact.event));
    expect(await log.types(story)).toEqual(['ToolApprovalDecided', 'ToolExecutionStarted']);
  });
});
