import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { grantIdOf, type ApprovalId, type GrantId } from '#contracts/ids';
import { handleCommand } from '#event-log/handle-command';
import type { MemoryLog } from '#event-log/memory-log';
import type { LikeCall } from '../projections/precedents/precedents.query.js';
import { callIn, Office } from './automations/precedents-for-spec.js';
import { whenApprovalRequestedThenFollowPrecedent } from './automations/when-approval-requested-then-follow-precedent.js';
import { whenGrantEndedThenRevokeApprovals } from './automations/when-grant-ended-then-revoke-approvals.js';
import { deciding } from './domain/decide-approval.js';
import { frozen, granted, over } from './domain/grant-stories-for-spec.js';
import { callerOf, TENANT } from './domain/stories-for-spec.js';

const GRANTS = [0, 1, 2].map((n) => grantIdOf(TENANT, `g-${n}`));
const grantAt = (n: number): GrantId => GRANTS[n] ?? grantIdOf(TENANT, 'none');
const TURNS = 4;
/** Between what is read and what is written much can happen. */
const WRITING = 12;

interface Act {
  readonly is: 'ask' | 'issue' | 'end' | 'decide' | 'freeze';
  /** Which turn or which grant. */
  readonly of: number;
  readonly waits: number;
  /** Who reacts to it at once: each dies after so many looks at the log, or lives. */
  readonly reactors: readonly (number | undefined)[];
}
const reactor = fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 1, max: 50 }) }, fc.constant(undefined));
const reactors = fc.array(reactor, { minLength: 1, maxLength: 2 });
const acts = fc
  .record({
    asked: fc.array(fc.record({ waits: fc.nat(40), reactors }), { minLength: TURNS, maxLength: TURNS }),
    others: fc.array(
      fc.record({
        is: fc.constantFrom(
          'end' as const,
          'end' as const,
          'end' as const,
          'issue' as const,
          'decide' as const,
          'freeze' as const,
        ),
        of: fc.nat(TURNS - 1),
        waits: fc.integer({ min: 15, max: 140 }),
        reactors,
      }),
      { maxLength: 6 },
    ),
  })
  .map(({ asked, others }): readonly Act[] => [
    ...asked.map((one, of) => ({ ...one, is: 'ask' as const, of })),
    ...others,
  ]);
const stories = fc.record({
  maxUses: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 2, maxLength: 2 }),
  acts,
  jitter: fc.array(fc.nat(4), { minLength: 7, maxLength: 23 }),
});
type Story = typeof stories extends fc.Arbitrary<infer One> ? One : never;

const turn = async (): Promise<void> => new Promise((done) => void setImmediate(done));
const turns = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n += 1) await turn();
};
const perhaps = (work: Promise<unknown>): Promise<unknown> => work.catch(() => undefined);

class World {
  readonly office = new Office();
  private looks = 0;
  private switches = 0;
  readonly done = new Set<number>();

  constructor(private readonly jitter: readonly number[]) {
    this.office.services.precedents = (like) => this.found(like);
  }

  /** One process: every look at the log takes its time, and it may die at any. */
  private process(diesAfter = Number.POSITIVE_INFINITY) {
    let left = diesAfter;
    const { log } = this.office;
    const slow =
      <Asked extends readonly unknown[], Answer>(look: (...asked: Asked) => Promise<Answer>, times = 1) =>
      async (...asked: Asked): Promise<Answer> => {
        await turns(times * (this.jitter[(this.looks += 1) % this.jitter.length] ?? 0));
        if ((left -= 1) < 0) throw new Error('killed');
        return look(...asked);
      };
    const slowLog = Object.assign(Object.create(log) as MemoryLog, {
      append: slow(log.append.bind(log), WRITING),
      last: slow(log.last.bind(log)),
      next: slow(log.next.bind(log)),
    });
    return { ...this.office.services, log: slowLog };
  }

  /** What the read model has: grants from before the call that were not over before it. */
  private async found({ seq }: LikeCall) {
    const before = (await this.office.of('GrantIssued')).filter((fact) => fact.seq < seq);
    const ended = (await this.office.of('GrantEnded')).filter((fact) => fact.seq < seq);
    const isOver = (id: GrantId) => ended.some(({ event }) => event.data.grantId === id);
    return { grants: before.map(({ event }) => event.data.grantId).filter((id) => !isOver(id)) };
  }

  /** As a durable subscription: told until it was done once. */
  react = async (fact: Recorded<HoldpointEvent>, diesAfter?: number): Promise<void> => {
    const services = this.process(diesAfter);
    await whenApprovalRequestedThenFollowPrecedent(services).react(fact);
    await whenGrantEndedThenRevokeApprovals(services).react(fact);
    this.done.add(fact.seq);
  };

  async does({ is, of, waits, reactors: who }: Act): Promise<void> {
    await turns(waits);
    if (is === 'ask') await this.office.ask(`t-${of}`);
    if (is === 'issue') await this.office.tell(granted({ grantId: grantAt(2) }, 'bob'));
    if (is === 'end' && (await this.isGiven(grantAt(of % 3))))
      await this.office.tell(over('enough', 'olga', grantAt(of % 3)));
    if (is === 'freeze') await this.office.tell(frozen(this.switches % 2 === 0, (this.switches += 1)));
    if (is === 'decide') await this.decides(callIn(`t-${of}`));
    const subject = { ask: `t-${of}`, end: grantAt(of % 3) } as Partial<Record<Act['is'], string>>;
    const fact = (await this.office.facts()).find((one) => isAbout(one, is, subject[is]));
    if (fact) await Promise.all(who.map((diesAfter) => perhaps(this.react(fact, diesAfter))));
  }

  private isGiven = async (id: GrantId): Promise<boolean> =>
    (await this.office.of('GrantIssued')).some(({ event }) => event.data.grantId === id);

  private async decides(approvalId: ApprovalId): Promise<void> {
    const services = this.process();
    await handleCommand(services, deciding(services.policies), {
      tenant: TENANT,
      command: { approvalId, decision: 'approve' },
      context: { caller: callerOf('carl') },
      causationId: 'test',
      actor: { kind: 'person', id: 'carl', via: 'token:test' },
    });
  }
}

const isAbout = ({ event }: Recorded<HoldpointEvent>, is: Act['is'], id: string | undefined): boolean =>
  (is === 'ask' && event.type === 'ToolApprovalRequested' && event.data.turnId === id) ||
  (is === 'end' && event.type === 'GrantEnded' && event.data.grantId === id);

/** Everything at once; then whatever was not done is told again. */
async function logAfter({ maxUses, acts: all, jitter }: Story) {
  const world = new World(jitter);
  await world.office.tell(...maxUses.map((most, n) => granted({ grantId: grantAt(n), maxUses: most })));
  await Promise.all(all.map((act) => world.does(act)));
  for (const fact of await world.office.facts()) if (!world.done.has(fact.seq)) await world.react(fact);
  return world.office;
}
async function told(office: Office) {
  const [issued, slots, ends, asked] = await Promise.all([
    office.of('GrantIssued'),
    office.of('GrantRedeemed'),
    office.of('GrantEnded'),
    office.of('ToolApprovalRequested'),
  ]);
  const [decisions, revocations, freezes] = await Promise.all([
    office.of('ToolApprovalDecided'),
    office.of('ToolApprovalRevoked'),
    office.of('FreezeSwitched'),
  ]);
  return { issued, slots, ends, asked, decisions, revocations, freezes };
}
type Told = Awaited<ReturnType<typeof told>>;

function usesAreCounted({ issued, slots }: Told): void {
  for (const { event } of issued) {
    const mine = slots.filter((slot) => slot.event.data.grantId === event.data.grantId);
    const numbers = mine.map((slot) => slot.event.data.n);
    expect(numbers).toEqual(Array.from(numbers, (_, index) => index + 1));
    expect(numbers.length).toBeLessThanOrEqual(event.data.maxUses);
    expect(new Set(mine.map((slot) => slot.event.data.approvalId)).size).toBe(mine.length);
  }
}

function decisionsAreProven({ issued, slots, ends, asked, decisions, freezes }: Told): void {
  expect(new Set(decisions.map(({ event }) => event.data.approvalId)).size).toBe(decisions.length);
  for (const { seq, event } of decisions) {
    const { grant, approvalId } = event.data;
    if (!grant) continue;
    const isMine = (one: { readonly grantId: GrantId }) => one.grantId === grant.grantId;
    const slot = slots.find((one) => isMine(one.event.data) && one.event.data.n === grant.n);
    expect(slot?.event.data).toMatchObject({ approvalId });
    const taken = slot?.seq ?? Number.POSITIVE_INFINITY;
    const request = asked.find((one) => callIn(one.event.data.turnId) === approvalId);
    const given = issued.find((one) => isMine(one.event.data));
    expect([given?.seq, request?.seq, taken, seq]).toEqual(
      [given?.seq, request?.seq, taken, seq].sort((a = 0, b = 0) => a - b),
    );
    expect(ends.filter((one) => isMine(one.event.data) && one.seq < taken)).toEqual([]);
    const wasFrozen = freezes.findLast((one) => one.seq < taken)?.event.data.on === true;
    if (wasFrozen) expect(freezes.some((one) => one.seq > taken && one.seq < seq)).toBe(true);
  }
}

function endsAreKept({ ends, decisions, revocations }: Told): void {
  const isOver = (id: GrantId | undefined) => ends.some(({ event }) => event.data.grantId === id);
  const expected = decisions.filter(({ event }) => isOver(event.data.grant?.grantId));
  const ids = (facts: readonly { readonly event: { readonly data: { readonly approvalId: ApprovalId } } }[]) =>
    facts.map(({ event }) => event.data.approvalId).sort();
  expect(ids(revocations)).toEqual(ids(expected));
}

describe('whatever is done at once, and whoever dies', () => {
  it('uses are counted, decisions are proven by the log, and what a grant approved ends with it', () =>
    fc.assert(
      fc.asyncProperty(stories, async (story) => {
        const all = await told(await logAfter(story));
        usesAreCounted(all);
        decisionsAreProven(all);
        endsAreKept(all);
      }),
      { seed: 20_260_301, numRuns: 150 },
    ));
});
