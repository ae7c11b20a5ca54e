import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ContinueConversation } from '#contracts/continuations/events';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { continuationSubject } from '#contracts/subjects';
import { readStory, readWholeTurn } from '#fold/read';
import { continueAfter } from './continue-closed-turns.js';
import {
  call,
  decided,
  ended,
  factOf,
  failed,
  lapsed,
  logOf,
  requested,
  resumed,
  revoked,
  started,
  succeeded,
  TENANT,
  TURN_KEY,
} from './stories-for-spec.js';
import { continuationsDue, isClosing, react } from './when-approval-closed-then-continue-conversation.js';

const each = (calls: number) => requested({ release: 'each', calls });
const all = (calls: number) => requested({ release: 'all', calls });

async function dueAfter(...events: readonly HoldpointEvent[]): Promise<readonly string[]> {
  const whole = await readWholeTurn((await logOf(...events)).events, TENANT, TURN_KEY);
  return whole ? continuationsDue(whole).map(({ key }) => key) : [];
}

async function reactionTo(event: HoldpointEvent, ...before: readonly HoldpointEvent[]): Promise<readonly string[]> {
  const whole = await readWholeTurn((await logOf(...before, event)).events, TENANT, TURN_KEY);
  return whole && isClosing(event) ? react(event, whole).map(({ key }) => key) : [];
}

describe('a turn released whole', () => {
  it('waits for the last decision', async () => expect(await dueAfter(all(2), decided(0))).toEqual([]));
  it('goes on when every call is decided', async () =>
    expect(await dueAfter(all(2), decided(0), decided(1, 'denied'))).toEqual([TURN_KEY]));
  it('still has its continuation once a call ran', async () =>
    expect(await dueAfter(all(1), decided(0), resumed(), started(0), succeeded(0))).toEqual([TURN_KEY]));
  it('has none once it has ended', async () => expect(await dueAfter(all(1), decided(0), ended())).toEqual([]));
});

describe('a turn whose calls are released each', () => {
  it('lets an approved call run while others are undecided', async () =>
    expect(await dueAfter(each(2), decided(1))).toEqual([call(1)]));
  it('lets a denied call not run', async () => expect(await dueAfter(each(2), decided(0, 'denied'))).toEqual([]));
  it('goes on as a whole when no call was approved', async () =>
    expect(await dueAfter(each(2), decided(0, 'denied'), decided(1, 'expired'))).toEqual([TURN_KEY]));
  it('waits for what an approved call gives, which stays due until then', async () =>
    expect(await dueAfter(each(1), decided(0), started(0))).toEqual([call(0)]));
  it.each([
    ['succeeded', [started(0), succeeded(0)]],
    ['failed', [started(0), failed(0)]],
    ['revoked', [revoked(0)]],
    ['lapsed', [lapsed(0)]],
  ] as const)('goes on when the last call has %s', async (_, facts) =>
    expect(await dueAfter(each(1), decided(0), ...facts)).toEqual([TURN_KEY]),
  );
});

describe('the reaction to one fact', () => {
  it('is about the call of the fact, not about its siblings', async () =>
    expect(await reactionTo(decided(1), each(2), decided(0))).toEqual([call(1)]));
  it('is nothing when a tool only began', async () =>
    expect(await reactionTo(started(0), all(1), decided(0), resumed())).toEqual([]));
  it('is nothing when the turn has ended', async () =>
    expect(await reactionTo(decided(0, 'cancelled'), all(1), ended('cancelled'))).toEqual([]));
});

/** What becomes of each call, and by which of its facts. */
const fates = {
  denied: (index: number) => [decided(index, 'denied')],
  responded: (index: number) => [decided(index, 'responded')],
  expired: (index: number) => [decided(index, 'expired')],
  revoked: (index: number) => [decided(index), revoked(index)],
  lapsed: (index: number) => [decided(index), lapsed(index)],
  succeeded: (index: number) => [decided(index), started(index), succeeded(index)],
  failed: (index: number) => [decided(index), started(index), failed(index)],
} as const;
type Fate = keyof typeof fates;
const aFate = fc.constantFrom(...(Object.keys(fates) as Fate[]));
const ran = (fate: Fate) => fate === 'succeeded' || fate === 'failed';

type Log = Awaited<ReturnType<typeof logOf>>;
const published = async ({ commands }: Log): Promise<string[]> => {
  const { lastSeq } = await commands.state();
  const seen: string[] = [];
  for (let seq = 1; seq <= lastSeq; seq += 1) seen.push((await commands.next('hp.cmd.>', seq))?.event.data.key ?? '');
  return seen;
};
const isPublished = async ({ commands }: Log, command: Pick<ContinueConversation, 'key' | 'turnKey' | 'pool'>) =>
  (await commands.last(continuationSubject(TENANT, command as ContinueConversation))) !== undefined;

describe('whatever the order in which facts are delivered, each twice', () => {
  it('publishes exactly one turn command for a turn released whole', () =>
    fc.assert(
      fc.asyncProperty(fc.array(aFate, { minLength: 1, maxLength: 6 }), fc.nat(), async (of, seed) => {
        const dice = diceOf(seed);
        const log = await logOf(all(of.length), ...of.flatMap((fate, index) => fates[fate](index)));
        const facts = await readStory(log.events, 'hp.v1.>');
        for (const fact of shuffled([...facts, ...facts], dice)) await continueAfter(log, fact);
        expect(await published(log)).toEqual([TURN_KEY]);
      }),
      { numRuns: 30 },
    ));

  it('publishes exactly one turn command and one for each call that is to run, for calls released each', () =>
    fc.assert(
      fc.asyncProperty(fc.array(aFate, { minLength: 1, maxLength: 6 }), fc.nat(), async (of, seed) => {
        const dice = diceOf(seed);
        const log = await logOf(each(of.length));
        await liveThrough(log, of, dice);
        const facts = await readStory(log.events, 'hp.v1.>');
        for (const fact of shuffled([...facts, ...facts], dice)) await continueAfter(log, fact);
        const keys = await published(log);
        const mustRun = of.flatMap((fate, index) => (ran(fate) ? [call(index)] : []));
        const mayHaveRun = of.flatMap((fate, index) => (fate === 'revoked' || fate === 'lapsed' ? [call(index)] : []));
        expect(new Set(keys).size).toBe(keys.length);
        expect(keys).toEqual(expect.arrayContaining([TURN_KEY, ...mustRun]));
        expect(keys.filter((key) => ![TURN_KEY, ...mustRun, ...mayHaveRun].some((one) => one === key))).toEqual([]);
      }),
      { numRuns: 30 },
    ));
});

/** Facts happen and are delivered in any order the dice give; a tool begins only once its command is there to be taken. */
async function liveThrough(log: Log, of: readonly Fate[], dice: Dice): Promise<void> {
  const left = of.map((fate, index) => [...fates[fate](index)]);
  const undelivered: Recorded<HoldpointEvent>[] = [];
  while (left.some((facts) => facts.length > 0) || undelivered.length > 0) {
    const happened = dice(2) === 0 ? await happen(log, left, dice(left.length)) : undefined;
    if (happened) undelivered.push(happened);
    else if (undelivered.length > 0) await deliverOne(log, undelivered, dice(undelivered.length));
  }
}

async function deliverOne(log: Log, undelivered: Recorded<HoldpointEvent>[], which: number): Promise<void> {
  const [fact] = undelivered.splice(which, 1);
  if (fact) await continueAfter(log, fact);
}

async function happen(
  log: Log,
  left: readonly HoldpointEvent[][],
  index: number,
): Promise<Recorded<HoldpointEvent> | undefined> {
  const [next] = left[index] ?? [];
  if (!next) return undefined;
  const command = { key: call(index), turnKey: TURN_KEY, pool: 'default' };
  if (next.type === 'ToolExecutionStarted' && !(await isPublished(log, command))) return undefined;
  left[index]?.shift();
  await log.events.append(factOf(next));
  return log.events.last(factOf(next).subject);
}

type Dice = (sides: number) => number;

/** The same throws for the same seed. */
function diceOf(seed: number): Dice {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % sides;
  };
}

function shuffled<T>(items: readonly T[], dice: Dice): T[] {
  const left = [...items];
  return items.flatMap(() => left.splice(dice(left.length), 1));
}
