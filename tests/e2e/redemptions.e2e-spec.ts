import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { approvalIdOf, grantIdOf, turnKeyOf, type Tenant } from '#contracts/ids';
import { subjects } from '#contracts/subjects';
import { handleCommand } from '#event-log/handle-command';
import { readStory } from '#fold/read';
import { connectBroker, type Broker } from '#service/broker';
import { redeeming } from '../../apps/approval-service/src/approvals/domain/redeem-grant.js';
import { issuingRemembered } from '../../apps/approval-service/src/grants/domain/issue-grant.js';
import type { Api } from '../support/api.js';
import { call, openTurn } from '../support/stories.js';
import { eventually, World } from '../support/world.js';

const TENANT = 'default' as Tenant;
const CLAIMS = 64;

/** The uses of a grant are never more than its maximum, on three servers, however many want one at once. */
describe('the uses of a grant', () => {
  let world: World;
  let brokers: Broker[];

  beforeAll(async () => {
    world = await World.start({ cluster: true });
    world.startService('approval-service', { instance: '-2' });
    const settings = { natsUrl: world.natsUrl, natsCredsDir: world.servers.credsDir, natsCa: undefined };
    brokers = await Promise.all([1, 2, 3, 4].map(() => connectBroker(settings, 'approval-service')));
  });
  afterAll(async () => {
    await Promise.all(brokers.map((broker) => broker.close()));
    await world.stop();
  });

  const services = (at: number) => {
    const broker = brokers[at % brokers.length];
    if (!broker) throw new Error('No broker was connected');
    return { log: broker.events, clock: Date.now };
  };
  const by = (id: string) => ({
    tenant: TENANT,
    context: {},
    causationId: 'test',
    actor: { kind: 'service', id, via: 'test' } as const,
  });
  const redemptions = async (grantId: ReturnType<typeof grantIdOf>) =>
    (await readStory(services(0).log, subjects.redemptions(TENANT, grantId))).map(({ event }) => {
      if (event.type !== 'GrantRedeemed') throw new Error('Another fact stands where a use should');
      return event.data;
    });

  async function issued(maxUses: number) {
    const grantId = grantIdOf(TENANT, randomUUID());
    const terms = {
      schemaDigest: `sha256:${'0'.repeat(64)}`,
      expiresAt: new Date(Date.now() + 3_600_000).toISOString() as never,
    };
    const command = { grantId, scope: { tool: 't' }, maxUses, groups: [], ...terms };
    const made = await handleCommand(services(0), issuingRemembered, { ...by('ada'), command });
    expect(made.kind).toBe('recorded');
    return grantId;
  }

  it.each([1, 24, 64])(`are at most %i with ${CLAIMS} claims at once, and each claim has one`, async (maxUses) => {
    const grantId = await issued(maxUses);
    const ids = Array.from({ length: CLAIMS }, () => approvalIdOf(turnKeyOf(TENANT, randomUUID(), 't'), 0));
    const claim = async (approvalId: (typeof ids)[number], at: number): Promise<void> => {
      const request = { ...by('test'), command: { grantId, approvalId, requestSeq: 1 } };
      // Whoever did not get through in its time comes again, as a redelivery does.
      await handleCommand(services(at), redeeming, request).catch(() => claim(approvalId, at + 1));
    };
    await Promise.all(ids.map(claim));
    const used = await redemptions(grantId);
    expect(used.map(({ n }) => n)).toEqual(Array.from({ length: Math.min(CLAIMS, maxUses) }, (_, at) => at + 1));
    expect(new Set(used.map(({ approvalId }) => approvalId)).size).toBe(used.length);
  });

  const toolCalls = Array.from({ length: 8 }, (_, at) => call(`c${at}`));
  const openMany = async (agent: Api): Promise<string[]> =>
    (await Promise.all(Array.from({ length: CLAIMS / 8 }, () => openTurn(agent, { toolCalls })))).flatMap(
      ({ approvalIds }) => approvalIds,
    );

  it('are found again by whoever goes on after one that was killed in between', async () => {
    const [agent, ada] = await Promise.all([world.agent(), world.approver('ada@example.com')]);
    const seen = (await openTurn(agent)).approvalIds[0];
    const { schemaDigest } = (await ada.get(`/v1/approvals/${seen}`)).body;
    const scope = { tool: 'send_email', server: 'gmail' };
    const made = await ada.post('/v1/grants', { scope, schemaDigest, maxUses: 40 });
    const grantId = made.body['grantId'];
    const asked = openMany(agent);
    for (let killed = 0; killed < 4; killed += 1) {
      await sleep(150);
      await world.kill('approval-service');
      world.startService('approval-service');
    }
    const ids = await asked;
    const decided = await eventually(async () => {
      const { body } = await ada.get(`/v1/grants/${grantId}`);
      expect(body).toMatchObject({ used: 40, status: 'used-up' });
      expect((body['redemptions'] as Use[]).filter(({ state }) => state === 'pending')).toEqual([]);
      return body['redemptions'] as Use[];
    }, 60_000);
    const views = await Promise.all(ids.map(async (id) => (await ada.get(`/v1/approvals/${id}`)).body));
    const granted = views.filter((view) => view['decision']?.grant);
    expect(granted.length).toBe(decided.filter(({ state }) => state !== 'void').length);
    const slots = granted.map((view) => view['decision'].grant.n as number);
    expect(new Set(slots).size).toBe(slots.length);
    expect(views.filter((view) => view['status'] === 'pending')).toHaveLength(CLAIMS - granted.length);
  });
});

interface Use {
  readonly state: string;
}
