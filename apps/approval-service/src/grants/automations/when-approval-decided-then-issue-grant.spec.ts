import { describe, expect, it } from '@jest/globals';
import { digestOf } from '#contracts/canonical';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { approvalIdOf, turnKeyOf } from '#contracts/ids';
import { subjects } from '#contracts/subjects';
import { MemoryLog } from '#event-log/memory-log';
import { readStory } from '#fold/read';
import { after, factOf, GRANT, NOON, TENANT, terms } from '../stories-for-spec.js';
import { whenApprovalDecidedThenIssueGrant } from './when-approval-decided-then-issue-grant.js';

const CALL = approvalIdOf(turnKeyOf(TENANT, 'conv', 't-1'), 0);
const decided = (remember = true): HoldpointEvent => ({
  type: 'ToolApprovalDecided',
  data: {
    approvalId: CALL,
    decision: 'approved',
    argsDigest: digestOf({}),
    requirement: { policyVersion: 0, engineVersion: '1', hash: digestOf({}) },
    requestSeq: 1,
    ...(remember ? { remember: terms } : {}),
  },
});

async function told(event: HoldpointEvent) {
  const log = new MemoryLog();
  await log.append(factOf(event, 'ada'));
  const fact = (await readStory(log, 'hp.v1.>'))[0] as Recorded<HoldpointEvent>;
  const { react } = whenApprovalDecidedThenIssueGrant({ log, clock: () => Date.parse(NOON) + 900_000 });
  return { log, fact, react: () => react(fact), issued: () => readStory(log, subjects.issued(TENANT, GRANT)) };
}

describe('when an approval was decided', () => {
  it('the grant that the decision carries is given, in the name of who decided', async () => {
    const { fact, react, issued } = await told(decided());
    await react();
    expect(await issued()).toMatchObject([
      {
        actor: { kind: 'person', id: 'ada', via: 'reaction:remembered' },
        causationId: fact.eventId,
        event: { type: 'GrantIssued', data: { ...terms, approvalId: CALL, expiresAt: after(60) } },
      },
    ]);
  });
  it('it is given once, however often and how many are told at once', async () => {
    const { log, react, issued } = await told(decided());
    await Promise.all([react(), react()]);
    await react();
    expect(await issued()).toHaveLength(1);
    expect(await readStory(log, 'hp.v1.>')).toHaveLength(2);
  });
  it('it is not given again once it was ended', async () => {
    const { log, react } = await told(decided());
    await react();
    await log.append(factOf({ type: 'GrantEnded', data: { grantId: GRANT } }));
    await react();
    expect(await readStory(log, 'hp.v1.>')).toHaveLength(3);
  });
  it.each<[string, HoldpointEvent]>([
    ['a decision that carries none', decided(false)],
    ['anything else', { type: 'FreezeSwitched', data: { on: true, reason: 'drill', n: 1 } }],
  ])('nothing is given for %s', async (_, event) => {
    const { log, react } = await told(event);
    await react();
    expect(await readStory(log, 'hp.v1.>')).toHaveLength(1);
  });
});
