import { describe, expect, it } from '@jest/globals';
import { digestOf } from '#contracts/canonical';
import type { GrantIssued } from '#contracts/grants/events';
import { grantIdOf } from '#contracts/ids';
import type { RequestedToolCall, ToolApprovalRequested } from '#contracts/turns/events';
import { Unavailable } from '#decider/unavailable';
import { frozen, GRANT, granted, over, redeemed } from '../domain/grant-stories-for-spec.js';
import {
  after,
  ARGS,
  decided,
  DEFAULT_APPLIED,
  DIGEST,
  ended,
  published,
  TENANT,
  type Told,
} from '../domain/stories-for-spec.js';
import { GRANTS_A_PAGE } from '../../projections/precedents/precedents.query.js';
import { about, callIn, deniedIn, Office } from './precedents-for-spec.js';

const OTHER_GRANT = grantIdOf(TENANT, 'other');
const CALL = callIn('t-1');

/** A grant was given, and a call is asked about. */
async function withGrant(more: Partial<GrantIssued> = {}, between: readonly Told[] = []) {
  const office = new Office();
  office.found = { grants: [GRANT] };
  await office.tell(granted(more), ...between);
  return { office, asked: await office.ask('t-1') };
}

const slotsOf = async (office: Office) =>
  (await office.of('GrantRedeemed')).map(({ event: { data } }) => [data.n, data.approvalId]);
const decisionsOf = async (office: Office) =>
  (await office.of('ToolApprovalDecided')).map(({ actor, event: { data } }) => [
    data.decision,
    actor.kind,
    data.grant?.n,
  ]);
const became = async (office: Office) => ({ slots: await slotsOf(office), decisions: await decisionsOf(office) });

const APPROVED = { slots: [[1, CALL]], decisions: [['approved', 'grant', 1]] };
const NOTHING = { slots: [], decisions: [] };

describe('a grant that was given before', () => {
  it('approves a call like it, by a use that was taken for it', async () => {
    const { office, asked } = await withGrant();
    await office.react(asked);
    expect(await became(office)).toEqual(APPROVED);
    expect((await office.of('ToolApprovalDecided'))[0]).toMatchObject({
      actor: { kind: 'grant', id: GRANT },
      causationId: asked.eventId,
      event: { data: { grant: { grantId: GRANT, n: 1, by: 'ada' } } },
    });
    expect((await office.of('GrantRedeemed'))[0]?.actor).toMatchObject({ kind: 'service', id: 'approval-service' });
  });
  it('is looked for by what the call is, as far as its request', async () => {
    const { office, asked } = await withGrant();
    await office.react(asked);
    expect(office.asks).toEqual([
      {
        tenant: TENANT,
        seq: asked.seq,
        conversationId: 'conv-1',
        agent: 'billing-agent',
        toolName: 'pay',
        server: undefined,
        argsDigest: DIGEST,
      },
    ]);
  });
  it('approves once, however often it is told', async () => {
    const { office, asked } = await withGrant();
    await office.react(asked);
    await office.react(asked);
    expect(await became(office)).toEqual(APPROVED);
  });
  it('approves once where two are told at once, and both take the same use', async () => {
    for (let run = 0; run < 20; run += 1) {
      const { office, asked } = await withGrant();
      await Promise.all([office.react(asked), office.react(asked), office.react(asked)]);
      expect(await became(office)).toEqual(APPROVED);
    }
  });
  it('approves with the use that was taken before, where whoever took it died, though all are taken by now', async () => {
    const { office, asked } = await withGrant({ maxUses: 2 });
    await office.tell(redeemed(1), redeemed(2, callIn('t-2')));
    await office.react(asked);
    expect(await became(office)).toEqual({
      ...APPROVED,
      slots: [
        [1, CALL],
        [2, callIn('t-2')],
      ],
    });
  });
  it('approves each call of a turn with a use of its own', async () => {
    const office = new Office();
    office.found = { grants: [GRANT] };
    await office.tell(granted({ maxUses: 9 }));
    const call = { toolCallId: 'c', toolName: 'pay', args: ARGS, argsDigest: DIGEST };
    await office.react(await office.ask('t-1', { toolCalls: [call, { ...call, toolName: 'mail' }, call] }));
    const slots = await slotsOf(office);
    expect(slots.map(([, id]) => id).sort()).toEqual([callIn('t-1'), callIn('t-1', 'conv-1', 2)]);
    expect(slots.map(([n]) => n)).toEqual([1, 2]);
    expect(await office.of('ToolApprovalDecided')).toHaveLength(2);
  });
  it('approves no more than it has uses, whoever comes at once', async () => {
    const office = new Office();
    office.found = { grants: [GRANT] };
    await office.tell(granted({ maxUses: 3 }));
    const asked = [];
    for (let n = 0; n < 8; n += 1) asked.push(await office.ask(`t-${n}`));
    await Promise.all(asked.map(office.react));
    expect((await slotsOf(office)).map(([n]) => n)).toEqual([1, 2, 3]);
    expect(await office.of('ToolApprovalDecided')).toHaveLength(3);
  });
  it('lets the next one approve what it does not', async () => {
    const { office, asked } = await withGrant({ scope: { tool: 'mail' } }, [granted({ grantId: OTHER_GRANT }, 'bob')]);
    office.found = { grants: [GRANT, OTHER_GRANT] };
    await office.react(asked);
    expect((await office.of('ToolApprovalDecided'))[0]?.event.data.grant).toMatchObject({ by: 'bob' });
    expect(await office.of('GrantRedeemed')).toHaveLength(1);
  });
  it('is found behind however many that are not for the call', async () => {
    const office = new Office();
    const others = Array.from({ length: GRANTS_A_PAGE }, (_, n) => grantIdOf(TENANT, `other-${n}`));
    await office.tell(
      ...others.map((grantId) => granted({ grantId, scope: { tool: 'pay', when: 'false' } })),
      granted(),
    );
    const asked = await office.ask('t-1');
    office.instead.push(
      () => Promise.resolve({ grants: others }),
      () => Promise.resolve({ grants: [GRANT] }),
    );
    await office.react(asked);
    expect(office.asks.map(({ grantsAfter }) => grantsAfter)).toEqual([undefined, GRANTS_A_PAGE]);
    expect(await became(office)).toEqual(APPROVED);
  });
  it('lets the next one approve, where it ends between its use and the decision', async () => {
    const { office, asked } = await withGrant({}, [granted({ grantId: OTHER_GRANT }, 'bob')]);
    office.found = { grants: [GRANT, OTHER_GRANT] };
    office.after.set('GrantRedeemed', () => office.tell(over()));
    await office.react(asked);
    expect((await office.of('ToolApprovalDecided')).map(({ event }) => event.data.grant?.by)).toEqual(['bob']);
  });
  it('lets an earlier denial answer, where it ends between its use and the decision', async () => {
    const office = new Office();
    office.found = { grants: [GRANT], denial: callIn('t-0') };
    await office.ask('t-0');
    await office.tell(deniedIn('t-0'), granted());
    office.after.set('GrantRedeemed', () => office.tell(over()));
    await office.react(await office.ask('t-1'));
    expect((await office.of('ToolApprovalDecided')).at(-1)).toMatchObject({ actor: { kind: 'denial' } });
  });
  it('lets the next one approve, where its uses are all taken', async () => {
    const used = [redeemed(1, callIn('t-8')), redeemed(2, callIn('t-9'))];
    const { office, asked } = await withGrant({}, [...used, granted({ grantId: OTHER_GRANT }, 'bob')]);
    office.found = { grants: [GRANT, OTHER_GRANT] };
    await office.react(asked);
    expect((await office.of('ToolApprovalDecided'))[0]?.event.data.grant).toMatchObject({ by: 'bob', n: 1 });
  });
});

describe('a grant approves nothing', () => {
  const staysAsItIs = async ({ office, asked }: Awaited<ReturnType<typeof withGrant>>) => {
    const before = await office.facts();
    await office.react(asked);
    expect(await office.facts()).toEqual(before);
  };

  it('where it is used up', async () => staysAsItIs(await withGrant({ maxUses: 1 }, [redeemed(1, callIn('t-9'))])));
  it('where its time is over', async () => staysAsItIs(await withGrant({ expiresAt: after(100) })));
  it('where it was ended', async () => staysAsItIs(await withGrant({}, [over()])));
  it('where a use was taken, and it was ended before the decision was made', async () => {
    const one = await withGrant();
    await one.office.tell(redeemed(1), over());
    await staysAsItIs(one);
  });
  it('where it is of another tool', async () => staysAsItIs(await withGrant({ scope: { tool: 'mail' } })));
  it('where it was given after the request', async () => {
    const office = new Office();
    office.found = { grants: [GRANT] };
    const asked = await office.ask('t-1');
    await office.tell(granted());
    await staysAsItIs({ office, asked });
  });
  it('where it is frozen', async () => staysAsItIs(await withGrant({}, [frozen()])));
  it('after the deadline of the call', async () => {
    const one = await withGrant();
    one.office.second = 86_400;
    await staysAsItIs(one);
  });
  it('where a person decided', async () => {
    const one = await withGrant();
    await one.office.tell(about(decided('denied', 'bob'), CALL));
    await staysAsItIs(one);
  });
  it('where somebody voted', async () => {
    const one = await withGrant();
    const vote = { approvalId: CALL, n: 1, vote: 'approve', argsDigest: DIGEST } as const;
    const data = { ...vote, groups: [], requirement: DEFAULT_APPLIED, requestSeq: 2 };
    await one.office.tell({ event: { type: 'ApprovalVoteCast', data }, by: 'bob', kind: 'person', at: after(60) });
    await staysAsItIs(one);
  });
  it('in a turn that has ended', async () => {
    const one = await withGrant();
    await one.office.tell(ended());
    await staysAsItIs(one);
  });
});

describe('while a grant approves', () => {
  type Cut = readonly ['before' | 'after', 'GrantRedeemed' | 'ToolApprovalDecided'];
  const TAKEN: Cut = ['after', 'GrantRedeemed'];
  const interrupted = async ([when, type]: Cut, ...what: readonly Told[]) => {
    const { office, asked } = await withGrant();
    office[when].set(type, () => office.tell(...what));
    await office.react(asked);
    return { office, asked };
  };
  const revocations = async (office: Office) =>
    (await office.of('ToolApprovalRevoked')).map(({ actor, event: { data } }) => ({ ...data, by: actor.id }));
  const REVOKED = [{ approvalId: CALL, reason: 'enough', turnEnded: false, by: 'olga' }];

  it.each<Cut>([
    ['before', 'GrantRedeemed'],
    ['after', 'GrantRedeemed'],
  ])('its end right %s the use is taken makes the use void', async (...cut) => {
    const { office } = await interrupted(cut, over('enough', 'olga'));
    expect(await became(office)).toEqual({ slots: [[1, CALL]], decisions: [] });
  });
  it.each<Cut>([
    ['before', 'ToolApprovalDecided'],
    ['after', 'ToolApprovalDecided'],
  ])('its end right %s the decision takes the approval back, in the name of who ended it', async (...cut) => {
    const { office, asked } = await interrupted(cut, over('enough', 'olga'));
    expect(await became(office)).toEqual(APPROVED);
    expect(await revocations(office)).toEqual(REVOKED);
    await office.react(asked);
    expect(await revocations(office)).toHaveLength(1);
  });
  it('its end takes the approval back, where whoever made it died first', async () => {
    const { office, asked } = await withGrant();
    await office.tell(redeemed(1), over('enough', 'olga'));
    const grant = { grantId: GRANT, n: 1, by: 'ada' };
    await office.tell(about(decided('approved', GRANT, { grant }, 'grant'), CALL));
    await office.react(asked);
    expect(await revocations(office)).toEqual(REVOKED);
    expect(await office.of('GrantRedeemed')).toHaveLength(1);
  });
  it('a person’s decision makes the use void, and nothing of theirs is taken back', async () => {
    const { office } = await interrupted(TAKEN, about(decided('approved', 'bob'), CALL), over('enough', 'olga'));
    expect(await became(office)).toEqual({ slots: [[1, CALL]], decisions: [['approved', 'person', undefined]] });
    expect(await revocations(office)).toEqual([]);
  });
  it('a freeze makes the use void', async () => {
    const { office } = await interrupted(TAKEN, frozen());
    expect(await became(office)).toEqual({ slots: [[1, CALL]], decisions: [] });
  });
  it('the end of the turn makes the use void', async () => {
    const { office } = await interrupted(TAKEN, ended());
    expect(await became(office)).toEqual({ slots: [[1, CALL]], decisions: [] });
  });
  it('the use is void where another grant has approved meanwhile', async () => {
    const { office, asked } = await withGrant({}, [granted({ grantId: OTHER_GRANT }, 'bob')]);
    const other = { grants: [OTHER_GRANT] };
    office.instead.push(() => Promise.resolve({ grants: [GRANT] }));
    office.after.set('GrantRedeemed', () => {
      office.found = other;
      return office.react(asked);
    });
    await office.react(asked);
    expect(await office.of('GrantRedeemed')).toHaveLength(2);
    expect((await office.of('ToolApprovalDecided')).map(({ event }) => event.data.grant?.by)).toEqual(['bob']);
  });
});

describe('a denial of the same call', () => {
  async function withDenial(
    first: Partial<ToolApprovalRequested> = {},
    call: Partial<RequestedToolCall> = {},
    denial: Told = deniedIn('t-0'),
  ) {
    const office = new Office();
    office.found = { grants: [], denial: callIn('t-0', first.conversationId) };
    await office.ask('t-0', first, call);
    await office.tell(denial);
    return office;
  }
  const decisionOf = async (office: Office, turnId = 't-1') =>
    (await office.of('ToolApprovalDecided')).find(({ event }) => event.data.approvalId === callIn(turnId));

  it('answers it again, with its reason and a count', async () => {
    const office = await withDenial();
    await office.react(await office.ask('t-1'));
    const repeats = { approvalId: callIn('t-0'), by: 'ada', count: 1 };
    const said = { decision: 'denied', reason: 'no', repeats };
    expect(await decisionOf(office)).toMatchObject({
      actor: { kind: 'denial', id: callIn('t-0') },
      event: { data: said },
    });
    office.found = { grants: [], denial: callIn('t-1') };
    await office.react(await office.ask('t-2'));
    expect(await decisionOf(office, 't-2')).toMatchObject({
      actor: { kind: 'denial', id: callIn('t-0') },
      event: { data: { ...said, repeats: { ...repeats, count: 2 } } },
    });
  });
  it('answers once, however often and how many are told at once', async () => {
    const office = await withDenial();
    const asked = await office.ask('t-1');
    await Promise.all([office.react(asked), office.react(asked)]);
    await office.react(asked);
    expect(await office.of('ToolApprovalDecided')).toHaveLength(2);
  });
  it.each<[string, ...Parameters<typeof withDenial>]>([
    ['of another conversation', { conversationId: 'conv-2' }, {}, about(deniedIn('t-0'), callIn('t-0', 'conv-2'))],
    ['with other arguments', {}, { args: {}, argsDigest: digestOf({}) }],
    ['of another tool', {}, { toolName: 'mail' }],
    ['that a policy denied', {}, {}, about(decided('denied', 'policy', {}, 'policy'), callIn('t-0'))],
    ['that was approved', {}, {}, about(decided('approved'), callIn('t-0'))],
  ])('is not what the read model gives for one %s', async (_, ...story) => {
    const office = await withDenial(...story);
    await office.react(await office.ask('t-1'));
    expect(await decisionOf(office)).toBeUndefined();
  });
  it('is not one from after the request', async () => {
    const office = new Office();
    office.found = { grants: [], denial: callIn('t-0') };
    await office.ask('t-0');
    const asked = await office.ask('t-1');
    await office.tell(deniedIn('t-0'));
    await office.react(asked);
    expect(await decisionOf(office)).toBeUndefined();
  });
  it('leaves it to the people where they are to be asked again', async () => {
    const office = await withDenial();
    await office.tell(published({ approvers: { count: 1 }, askAgainAfterDenial: true }));
    await office.react(await office.ask('t-1'));
    expect(await decisionOf(office)).toBeUndefined();
  });

  const withBoth = async (...facts: readonly Told[]) => {
    const office = await withDenial();
    await office.tell(...facts);
    office.found = { ...office.found, grants: [GRANT] };
    await office.react(await office.ask('t-1'));
    return (await decisionOf(office))?.event.data.decision;
  };
  it('gives way to a grant that was given after it', async () => expect(await withBoth(granted())).toBe('approved'));
  it('does not to one that is not for this call', async () =>
    expect(await withBoth(granted({ scope: { tool: 'mail' } }))).toBe('denied'));
  it('does not to one that was ended', async () => expect(await withBoth(granted(), over())).toBe('denied'));
  it('does not to one that was given before it', async () => {
    const office = new Office();
    office.found = { grants: [GRANT], denial: callIn('t-0') };
    await office.tell(granted());
    await office.ask('t-0');
    await office.tell(deniedIn('t-0'));
    await office.react(await office.ask('t-1'));
    expect(await decisionOf(office)).toMatchObject({ event: { data: { decision: 'denied' } } });
    expect(await office.of('GrantRedeemed')).toEqual([]);
  });
  it('gives way to a grant that was given after it, though it was repeated since', async () => {
    const office = await withDenial();
    const again = await office.ask('t-1');
    await office.tell(granted());
    await office.react(again);
    expect(await decisionOf(office)).toMatchObject({ event: { data: { repeats: { count: 1 } } } });
    office.found = { grants: [GRANT], denial: callIn('t-1') };
    await office.react(await office.ask('t-2'));
    expect(await decisionOf(office, 't-2')).toMatchObject({ event: { data: { decision: 'approved' } } });
  });
});

describe('a log that does not show yet what the read model has', () => {
  const waits = async (office: Office) => {
    const asked = await office.ask('t-1');
    const before = await office.facts();
    await expect(office.react(asked)).rejects.toThrow(Unavailable);
    expect(await office.facts()).toEqual(before);
  };

  it('is waited for where it lacks a grant: an older denial must not answer in its place', async () => {
    const office = new Office();
    office.found = { grants: [GRANT], denial: callIn('t-0') };
    await office.ask('t-0');
    await office.tell(deniedIn('t-0'));
    await waits(office);
  });
  it('is waited for where it lacks the denial', async () => {
    const office = new Office();
    office.found = { grants: [], denial: callIn('t-0') };
    await office.ask('t-0');
    await waits(office);
  });
  it('is waited for where it lacks the call that was denied', async () => {
    const office = new Office();
    office.found = { grants: [], denial: callIn('t-0') };
    await office.tell(deniedIn('t-0'));
    await waits(office);
  });
  it('is waited for where it lacks the first of repeated denials', async () => {
    const office = new Office();
    office.found = { grants: [], denial: callIn('t-0') };
    await office.ask('t-0');
    const repeats = { approvalId: callIn('t-9'), by: 'ada', count: 1 };
    await office.tell(about(decided('denied', callIn('t-9'), { repeats }, 'denial'), callIn('t-0')));
    await waits(office);
  });
  it('is waited for where it lacks the grant when a use is to be taken', async () => {
    const { office, asked } = await withGrant();
    const last = office.services.log.last.bind(office.log);
    let looks = 0;
    office.services.log.last = (filter) =>
      filter.endsWith('.issue') && (looks += 1) > 1 ? Promise.resolve(undefined) : last(filter);
    await expect(office.react(asked)).rejects.toThrow(Unavailable);
    expect(await became(office)).toEqual(NOTHING);
  });
});

describe('the read model', () => {
  it('is not asked about what the policy decides', async () => {
    const office = new Office();
    await office.tell(published({ approvers: { count: 1 } }, [{ id: 'r', tools: ['pay'], then: 'approve' }]));
    await office.react(await office.ask('t-1'));
    expect(office.asks).toEqual([]);
  });
  it('is asked again until it has come as far as the request', async () => {
    const { office, asked } = await withGrant();
    office.instead.push(
      () => Promise.resolve(undefined),
      () => Promise.resolve(undefined),
    );
    await office.react(asked);
    expect(office.asks).toHaveLength(3);
    expect(await became(office)).toEqual(APPROVED);
  });
  it('that is away leaves everything as it is, for another time', async () => {
    const { office, asked } = await withGrant();
    office.instead.push(() => Promise.reject(new Error('no Postgres')));
    await expect(office.react(asked)).rejects.toThrow('no Postgres');
    expect(await became(office)).toEqual(NOTHING);
    await office.react(asked);
    expect(await became(office)).toEqual(APPROVED);
  });
  it('that stays behind is an outage', async () => {
    const { office, asked } = await withGrant();
    office.services.precedents = () => Promise.resolve(undefined);
    await expect(office.react(asked)).rejects.toThrow(Unavailable);
    expect(await became(office)).toEqual(NOTHING);
  });
  it('that has nothing leaves the call to people', async () => {
    const office = new Office();
    await office.react(await office.ask('t-1'));
    expect(await became(office)).toEqual(NOTHING);
  });
});
