import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ContinuationCommand } from '#contracts/continuations/events';
import type { Fact, Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { subjects } from '#contracts/subjects';
import { handleCommand, type Rule } from '#event-log/handle-command';
import { MemoryLog } from '#event-log/memory-log';
import { isAlive } from '#fold/lease';
import { readStory, readTurn } from '#fold/read';
import { PoliciesInForce } from '#policy/in-force';
import { cancelling, ending, superseding } from './domain/end-turn.js';
import { extending, givingBack } from './domain/hold-lease.js';
import { opening, type NamedTurn } from './domain/open-turn.js';
import { reporting } from './domain/report-outcome.js';
import { resuming } from './domain/resume-turn.js';
import { settling } from './domain/settle-execution.js';
import {
  AGAIN,
  allDecided,
  at,
  callerOf,
  CALLS,
  published,
  requested,
  TENANT,
  TURN,
  used,
  type Told,
} from './domain/stories-for-spec.js';

const offered = { storedAt: at(11) } as Recorded<ContinuationCommand>;
const commands = { last: () => Promise.resolve(offered), next: () => Promise.resolve(undefined) };

type Asked<Command, State> = Rule<Command, State, never> | ((policies: PoliciesInForce) => Rule<Command, State, never>);
const takingOffered = (policies: PoliciesInForce) => resuming(commands, policies);

/** A decided turn of which one call may have begun, in a log of its own, with a clock that the test moves. */
class Story {
  readonly log = new MemoryLog();
  private readonly policies = new PoliciesInForce(this.log);
  private seconds = 20;

  async begin(...facts: readonly Told[]): Promise<this> {
    for (const [n, { event, by, at: occurredAt }] of facts.entries()) {
      const envelope = {
        eventId: `e-${n}`,
        occurredAt,
        correlationId: 'conv',
        causationId: 'test',
        actor: { kind: 'agent' as const, id: by, via: 'test' },
      };
      const fact = { ...envelope, tenant: TENANT, subject: subjectOfTold(event), event } satisfies Fact<HoldpointEvent>;
      expect((await this.log.append(fact)).is).toBe('stored');
    }
    return this;
  }

  wait(seconds: number): void {
    this.seconds += seconds;
  }
  now = () => at(this.seconds);

  async ask<Command, State>(asked: Asked<Command, State>, command: Command, subject = 'worker', key?: string) {
    const rule = typeof asked === 'function' ? asked(this.policies) : asked;
    const context = { caller: callerOf(subject, { roles: ['agent', 'operator'] }), leaseSeconds: 10 };
    const services = { log: this.log, clock: () => Date.parse(this.now()) };
    const actor = { kind: 'agent', id: subject, via: 'test' } as const;
    return handleCommand(services, rule as Rule<Command, State, typeof context>, {
      command,
      context,
      tenant: TENANT,
      actor,
      causationId: 'test',
      ...(key === undefined ? {} : { idempotencyKey: key }),
    });
  }

  facts = () => readStory(this.log, 'hp.v1.e1.default.>');
}
const subjectOfTold = (event: HoldpointEvent): string => {
  if (event.type === 'PolicyPublished') return subjects.policy(TENANT, event.data.version);
  if (event.type === 'ToolApprovalRequested') return subjects.request(TENANT, event.data.turnKey);
  if (event.type === 'ToolApprovalDecided') return subjects.decision(TENANT, event.data.approvalId);
  if (event.type === 'ToolExecutionStarted') return subjects.use(TENANT, event.data.approvalId);
  throw new Error(`No story begins with ${event.type}`);
};

type Ask = (story: Story) => Promise<unknown>;
const workers = fc.constantFrom('w-1', 'w-2', 'w-3');
const attempts = fc.integer({ min: 1, max: 4 });

/** Anything that any worker may ask at any time, whether it makes sense or not. */
const asks: fc.Arbitrary<Ask> = fc.oneof(
  fc.record({ seconds: fc.integer({ min: 0, max: 30 }) }).map(
    ({ seconds }): Ask =>
      (story) =>
        Promise.resolve(story.wait(seconds)),
  ),
  workers.map(
    (workerId): Ask =>
      (story) =>
        story.ask(takingOffered as never, { key: TURN, workerId, asHolder: false }),
  ),
  fc.tuple(workers, attempts).map(
    ([workerId, attempt]): Ask =>
      (story) =>
        story.ask(extending as never, { key: TURN, workerId, attempt }),
  ),
  fc.tuple(workers, attempts).map(
    ([workerId, attempt]): Ask =>
      (story) =>
        story.ask(givingBack as never, { key: TURN, workerId, attempt }),
  ),
  fc.tuple(workers, attempts, fc.boolean()).map(
    ([workerId, attempt, ok]): Ask =>
      (story) =>
        story.ask(reporting as never, {
          approvalId: CALLS[0],
          workerId,
          attempt,
          ok,
          ...(ok ? { result: workerId } : { error: workerId }),
        }),
  ),
  fc.boolean().map(
    (ok): Ask =>
      (story) =>
        story.ask(settling as never, { approvalId: CALLS[0], ok, reason: 'seen' }, 'sam'),
  ),
);
const endings: fc.Arbitrary<Ask> = fc.oneof(
  fc.tuple(attempts, fc.constantFrom('completed', 'failed')).map(
    ([attempt, status]): Ask =>
      (story) =>
        story.ask(ending as never, { turnKey: TURN, attempt, status }),
  ),
  fc.constant<Ask>((story) => story.ask(cancelling as never, { turnKey: TURN })),
  fc.constant<Ask>((story) => story.ask(superseding as never, { turnKey: TURN, supersededBy: 't-2' })),
);
const decidedTurn = () => new Story().begin(requested(), ...allDecided);
const begunTurn = (isAgain = false) =>
  new Story().begin(...(isAgain ? [published([AGAIN])] : []), requested(), ...allDecided, used(0));

describe('whatever is asked, in whatever order', () => {
  it('attempts only grow, the story has no gap, and one worker at most has the turn', () =>
    fc.assert(
      fc.asyncProperty(fc.array(asks, { maxLength: 25 }), async (all) => {
        const story = await decidedTurn();
        for (const ask of all) await ask(story);
        const leases = (await story.facts())
          .map(({ event }) => event)
          .filter(
            (event) =>
              event.type === 'TurnResumed' || event.type === 'LeaseExtended' || event.type === 'LeaseGivenBack',
          );
        expect(leases.map(({ data }) => data.n)).toEqual(leases.map((_, index) => index + 1));
        const taken = leases.filter(({ type }) => type === 'TurnResumed').map(({ data }) => data.attempt);
        expect(taken).toEqual(taken.map((_, index) => index + 1));
      }),
      { numRuns: 60 },
    ));

  it('who takes a turn takes it when nobody has it', () =>
    fc.assert(
      fc.asyncProperty(fc.array(asks, { maxLength: 20 }), workers, async (all, workerId) => {
        const story = await decidedTurn();
        for (const ask of all) await ask(story);
        const before = await readTurn(story.log, TENANT, TURN);
        const alive = before.state !== 'unknown' && isAlive(before.lease, story.now());
        const handled = await story.ask(takingOffered as never, { key: TURN, workerId, asHolder: false });
        expect(handled.kind).toBe(alive ? 'refused' : 'recorded');
      }),
      { numRuns: 60 },
    ));

  it('a command sent twice records once', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(asks, { maxLength: 10 }),
        fc.oneof(asks, endings),
        fc.boolean(),
        async (all, ask, isAgain) => {
          const story = await begunTurn(isAgain);
          for (const earlier of all) await earlier(story);
          await ask(story);
          const once = await story.facts();
          await ask(story);
          const twice = await story.facts();
          // Only holding on to a lease is a new fact each time: it moves its end.
          const more = twice.slice(once.length).map(({ event }) => event.type);
          expect(more.filter((type) => type !== 'LeaseExtended')).toEqual([]);
        },
      ),
      { numRuns: 80 },
    ));

  it('what began and must not run twice is taken by nobody, and reported by nobody else', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(asks, { maxLength: 25 }),
        fc.constantFrom([], [{ ...AGAIN, idempotent: false }]),
        async (all, rules) => {
          const story = await new Story().begin(published(rules), requested(), ...allDecided, used(0));
          for (const ask of all) await ask(story);
          const facts = (await story.facts()).map(({ event }) => event);
          const ofCall = facts.flatMap((event) =>
            event.type === 'ToolExecutionSucceeded' || event.type === 'ToolExecutionFailed' ? [event.data] : [],
          );
          expect(ofCall.every(({ attempt }) => attempt === 1)).toBe(true);
          if (ofCall.length === 0) expect(facts.map(({ type }) => type)).not.toContain('TurnResumed');
        },
      ),
      { numRuns: 60 },
    ));

  it('a turn that has ended stays as it ended, and only a true outcome is still taken', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(asks, { maxLength: 8 }),
        fc.array(fc.oneof(asks, endings), { maxLength: 15 }),
        async (before, after) => {
          const story = await begunTurn();
          for (const ask of before) await ask(story);
          await story.ask(cancelling as never, { turnKey: TURN });
          const ended = await story.facts();
          for (const ask of after) await ask(story);
          const more = (await story.facts()).slice(ended.length).map(({ event }) => event.type);
          expect(more.filter((type) => type !== 'ToolExecutionSucceeded' && type !== 'ToolExecutionFailed')).toEqual(
            [],
          );
          expect(more.length).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 60 },
    ));

  it('of fifty workers that take one turn at the same moment, one has it', async () => {
    const story = await decidedTurn();
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        story.ask(takingOffered as never, { key: TURN, workerId: `w-${n}`, asHolder: false }),
      ),
    );
    expect(all.filter(({ kind }) => kind === 'recorded')).toHaveLength(1);
  });
});

describe('a request to resume that comes again under its key', () => {
  const resume = (story: Story, workerId: string, key?: string) =>
    story.ask(takingOffered as never, { key: TURN, workerId, asHolder: false }, 'worker', key);

  it('finds the attempt that it took, and takes none, whoever had the turn since', async () => {
    const story = await decidedTurn();
    const first = await resume(story, 'w-1', 'k');
    await story.ask(givingBack as never, { key: TURN, workerId: 'w-1', attempt: 1 });
    await resume(story, 'w-2');
    await story.ask(givingBack as never, { key: TURN, workerId: 'w-2', attempt: 2 });
    const before = await story.facts();
    const again = await resume(story, 'w-1', 'k');
    expect(again).toMatchObject({ kind: 'recorded', fact: { event: { data: { attempt: 1 } } } });
    expect(again.kind === 'recorded' && first.kind === 'recorded' && again.fact.seq === first.fact.seq).toBe(true);
    expect(await story.facts()).toEqual(before);
  });
});

/** Turns under one id, of which some are the same but for their holder. */
const turns: fc.Arbitrary<NamedTurn> = fc
  .record(
    {
      args: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom(1, 'x', null)),
      release: fc.constantFrom('all', 'each'),
      expiresInSeconds: fc.constantFrom(60, 9_000_000_000),
      holder: fc.record({ workerId: workers, graceSeconds: fc.integer({ min: 0, max: 60 }) }),
    },
    { requiredKeys: ['args'] },
  )
  .map(({ args, ...more }) => ({
    conversationId: 'conv',
    turnId: 't-1',
    agent: { id: 'billing' },
    toolCalls: [{ toolCallId: 'c0', toolName: 'pay', args }],
    ...more,
  }));

describe('whatever is opened under one id', () => {
  const open = (story: Story, turn: NamedTurn) => story.ask(opening as never, turn);

  it('is there once, however often it is sent', () =>
    fc.assert(
      fc.asyncProperty(turns, fc.integer({ min: 1, max: 5 }), async (turn, times) => {
        const story = new Story();
        const all = await Promise.all(Array.from({ length: times }, () => open(story, turn)));
        expect(all.map(({ kind }) => kind).sort()).toEqual([
          ...Array.from({ length: times - 1 }, () => 'nothing-to-do'),
          'recorded',
        ]);
        expect(await story.facts()).toHaveLength(1);
      }),
      { numRuns: 60 },
    ));

  it('stays as it was first opened, also when it has ended', () =>
    fc.assert(
      fc.asyncProperty(turns, fc.array(turns, { maxLength: 6 }), fc.boolean(), async (first, others, ended) => {
        const story = new Story();
        await open(story, first);
        if (ended) await story.ask(superseding as never, { turnKey: TURN, supersededBy: 't-2' });
        const before = await story.facts();
        for (const other of others) expect((await open(story, other)).kind).not.toBe('recorded');
        expect(await story.facts()).toEqual(before);
      }),
      { numRuns: 60 },
    ));
});
