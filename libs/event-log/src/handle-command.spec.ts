import { describe, expect, it } from '@jest/globals';
import type { Fact, Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { refusal } from '#contracts/refusals';
import { subjects } from '#contracts/subjects';
import { turnKeyOf, type Tenant } from '#contracts/ids';
import { accept, refuse } from '#decider/decider';
import { handleCommand, type Rule } from './handle-command.js';
import { Unavailable } from '#decider/unavailable';
import { LogFull, type Appended } from './log.js';
import { endedTurn, freshTenant } from './log.contract.js';
import { MemoryLog } from './memory-log.js';

interface End {
  readonly reason: string;
}

/** The first end of the turn stays; a second is told that it came too late. */
const ending: Rule<End, Recorded<HoldpointEvent> | undefined, object> = {
  read: (log, tenant) => log.last(subjects.end(tenant, turnKeyOf(tenant, 'conv', 't-1'))),
  decide: ({ reason }, there) =>
    there ? refuse(refusal('superseded', 'It has ended')) : accept(endedTurn(TENANT, 't-1', reason).event),
  correlate: () => 'conv',
};
const TENANT: Tenant = freshTenant();

/** A log whose appends and reads go wrong as a script says; past its end all goes well. */
class UnsteadyLog extends MemoryLog {
  constructor(
    private readonly appends: ('stored-unclear' | 'lost-unclear' | 'full')[],
    private unreadable = 0,
  ) {
    super();
  }
  override async append(fact: Fact<HoldpointEvent>): Promise<Appended> {
    const next = this.appends.shift();
    if (next === 'full') return { is: 'full', why: 'no room' };
    if (next === 'lost-unclear') return { is: 'unclear', why: 'no answer' };
    const appended = await super.append(fact);
    return next === 'stored-unclear' ? { is: 'unclear', why: 'no answer' } : appended;
  }
  override last(filter: string) {
    if (this.unreadable-- > 0) return Promise.reject(new Unavailable('no leader'));
    return super.last(filter);
  }
}

const end = (log: MemoryLog, { reason = 'done', key = undefined as string | undefined, who = 'ada' } = {}) =>
  handleCommand({ log, clock: Date.now }, ending, {
    command: { reason },
    context: {},
    tenant: TENANT,
    actor: { kind: 'person', id: who, via: 'test' },
    causationId: 'test',
    ...(key === undefined ? {} : { idempotencyKey: key }),
  });

describe('a command', () => {
  it('whose answer was lost finds its own event, and has won', async () => {
    const log = new UnsteadyLog(['stored-unclear']);
    expect(await end(log)).toMatchObject({ kind: 'recorded', fact: { seq: 1 } });
    expect((await log.state()).lastSeq).toBe(1);
  });
  it('that was lost is tried again', async () =>
    expect(await end(new UnsteadyLog(['lost-unclear', 'lost-unclear']))).toMatchObject({ kind: 'recorded' }));
  it('that cannot be read for is tried again', async () =>
    expect(await end(new UnsteadyLog([], 3))).toMatchObject({ kind: 'recorded' }));
  it('finds no room at once, and says that it is not known', async () => {
    await expect(end(new UnsteadyLog(['full']))).rejects.toBeInstanceOf(LogFull);
  });
  it('that another was before is judged again, with what is there now', async () => {
    const log = new MemoryLog();
    const [first, second] = await Promise.all([end(log, { reason: 'a' }), end(log, { reason: 'b', who: 'bob' })]);
    expect([first.kind, second.kind].sort()).toEqual(['recorded', 'refused']);
  });
  it('whose rule throws is not tried again', async () => {
    const broken: typeof ending = {
      ...ending,
      decide: () => {
        throw new TypeError('a bug');
      },
    };
    const request = {
      command: { reason: '' },
      context: {},
      tenant: TENANT,
      actor: { kind: 'person', id: 'a', via: 't' } as const,
      causationId: 't',
    };
    await expect(handleCommand({ log: new MemoryLog(), clock: Date.now }, broken, request)).rejects.toThrow('a bug');
  });
});

describe('an Idempotency-Key', () => {
  it('makes a request sent again the same request', async () => {
    const log = new MemoryLog();
    const [first, again] = [await end(log, { key: 'k' }), await end(log, { key: 'k' })];
    expect(first).toMatchObject({ kind: 'recorded', fact: { seq: 1 } });
    expect(again).toMatchObject({ kind: 'recorded', fact: { seq: 1 } });
  });
  it('with another body is a conflict', async () => {
    const log = new MemoryLog();
    await end(log, { key: 'k' });
    expect(await end(log, { key: 'k', reason: 'other' })).toMatchObject({
      kind: 'refused',
      refusal: { reason: 'conflict' },
    });
  });
  it('of another person is another key', async () => {
    const log = new MemoryLog();
    await end(log, { key: 'k' });
    expect(await end(log, { key: 'k', who: 'bob' })).toMatchObject({
      kind: 'refused',
      refusal: { reason: 'superseded' },
    });
  });
});

interface Seen {
  readonly end: Recorded<HoldpointEvent> | undefined;
}
const assuming: Rule<End, Seen, object> = {
  read: async (log, tenant) => ({ end: await ending.read(log, tenant, { reason: '' }) }),
  assume: () => ({ end: undefined }),
  decide: (command, { end: there }, context) => ending.decide(command, there, context),
  correlate: () => 'conv',
};
const endUnread = (log: MemoryLog, reason = 'done', rule = assuming) =>
  handleCommand({ log, clock: Date.now }, rule, {
    command: { reason },
    context: {},
    tenant: TENANT,
    actor: { kind: 'person', id: 'ada', via: 'test' },
    causationId: 'test',
  });

describe('a rule that assumes that nothing is there', () => {
  it('refuses only for what is there', async () => {
    const log = new MemoryLog();
    await endUnread(log, 'first');
    const cautious: typeof assuming = {
      ...assuming,
      decide: (command, state, context) =>
        state.end ? assuming.decide(command, state, context) : refuse(refusal('not-found', 'There is nothing')),
    };
    expect(await endUnread(log, 'second', cautious)).toMatchObject({ refusal: { reason: 'superseded' } });
  });

  it('need not read where that is so', async () =>
    expect(await endUnread(new UnsteadyLog([], 1))).toMatchObject({ kind: 'recorded', fact: { seq: 1 } }));
  it('reads what is there where it is not', async () => {
    const log = new MemoryLog();
    await endUnread(log, 'first');
    expect(await endUnread(log, 'second')).toMatchObject({ kind: 'refused', refusal: { reason: 'superseded' } });
    expect(await log.state()).toMatchObject({ lastSeq: 1 });
  });
  it('finds its own event where the answer was lost', async () =>
    expect(await endUnread(new UnsteadyLog(['stored-unclear']))).toMatchObject({ kind: 'recorded', fact: { seq: 1 } }));
});
