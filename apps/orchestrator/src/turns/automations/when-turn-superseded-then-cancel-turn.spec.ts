import { describe, expect, it } from '@jest/globals';
import type { Tenant } from '#contracts/ids';
import { turnKeyOf } from '#contracts/ids';
import { subjects } from '#contracts/subjects';
import { Unavailable } from '#decider/unavailable';
import { MemoryLog } from '#event-log/memory-log';
import { readStory } from '#fold/read';
import {
  allDecided,
  at,
  ended,
  recordedAt,
  requested,
  resumed,
  TENANT,
  TURN,
  type Told,
} from '../domain/stories-for-spec.js';
import { whenTurnSupersededThenCancelTurn } from './when-turn-superseded-then-cancel-turn.js';

const next = (more: object = { supersedes: 't-1' }): Told =>
  requested({ turnId: 't-2', turnKey: turnKeyOf(TENANT, 'conv', 't-2'), ...more });
const delivered = (fact: Told) => ({ ...recordedAt(fact, 20), eventId: 'opened' });

async function react(fact: Told, facts: readonly Told[], { times = 1, tenant = TENANT } = {}) {
  const log = new MemoryLog();
  for (const [n, one] of facts.entries()) await log.append(recordedAt(one, n));
  const automation = whenTurnSupersededThenCancelTurn({ log, clock: () => Date.parse(at(60)) });
  for (let n = 0; n < times; n += 1) await automation.react({ ...delivered(fact), tenant });
  return (await readStory(log, 'hp.v1.>')).slice(facts.length);
}

describe('when a turn is superseded', () => {
  it('it is cancelled, and says by which', async () =>
    expect(await react(next(), [requested()])).toMatchObject([
      {
        subject: subjects.end(TENANT, TURN),
        event: { data: { status: 'cancelled', supersededBy: 't-2' } },
        actor: { kind: 'service', id: 'orchestrator', via: 'reaction:turn-superseded' },
        causationId: 'opened',
      },
    ]));
  it('it is cancelled while a worker has it', async () =>
    expect(await react(next(), [requested(), ...allDecided, resumed()])).toHaveLength(1));
  it('it is cancelled once, however often that is told', async () =>
    expect(await react(next(), [requested()], { times: 3 })).toHaveLength(1));
  it.each(['completed', 'failed', 'cancelled'] as const)('it stays %s', async (status) =>
    expect(await react(next(), [requested(), ended(status)])).toEqual([]),
  );
  it('it waits for a log that does not show it yet', async () =>
    expect(react(next(), [])).rejects.toThrow(Unavailable));
  it('that of another tenant under the same ids is left alone', async () =>
    expect(react(next(), [requested()], { tenant: 'other' as Tenant })).rejects.toThrow(Unavailable));
});

describe('nothing follows', () => {
  it('from a turn that supersedes none', async () => expect(await react(next({}), [requested()])).toEqual([]));
  it('from other facts', async () => expect(await react(ended(), [requested()])).toEqual([]));
});
