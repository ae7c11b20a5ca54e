import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { headers as natsHeaders, type NatsConnection } from '@nats-io/transport-node';
import type { Api } from '../support/api.js';
import { approve, decide, openTurn, pullOne, resume } from '../support/stories.js';
import { eventually, World } from '../support/world.js';
import { connectAs } from './identities.js';

/** All that a message of ours may say to the broker; anything else is for people who read it. */
const TO_THE_BROKER = ['nats-expected-last-subject-sequence', 'nats-expected-stream'];
const FOR_READERS = ['ce-id', 'ce-source', 'ce-specversion', 'ce-subject', 'ce-time', 'ce-type', 'content-type'];
const CLOSED_LIST = [...TO_THE_BROKER, ...FOR_READERS, 'traceparent'];

/** `Nats-Expected-Last-Msg-Id` stops a replicated stream of nats-server 2.15 for good (docs/decisions/0012). */
describe('the header that stops a replicated log', () => {
  let world: World;
  let agent: Api;
  let approver: Api;
  const connections: NatsConnection[] = [];
  const as = async (identity: string): Promise<NatsConnection> => {
    const connection = await connectAs({ url: world.natsUrl, identity, credsDir: world.servers.credsDir });
    connections.push(connection);
    return connection;
  };

  beforeAll(async () => {
    world = await World.start({ cluster: true });
    agent = await world.agent();
    approver = await world.approver();
  });
  afterAll(async () => {
    for (const connection of connections) await connection.close();
    await world.stop();
  });

  it('is in no message that the product writes, whatever it is asked', async () => {
    const odd = { 'Nats-Expected-Last-Msg-Id': 'x', 'Nats-Rollup': 'all', traceparent: 'Nats-Rollup: all' };
    const opened = await agent.post(
      '/v1/turns',
      {
        conversationId: 'headers',
        agent: { id: 'Nats-Msg-Id: a' },
        toolCalls: [{ toolCallId: 'c', toolName: 'Nats-TTL: 1', args: { 'Nats-Expected-Last-Msg-Id': 'x' } }],
      },
      { ...odd, 'Idempotency-Key': 'Nats-Msg-Id' },
    );
    expect(opened.status).toBe(201);
    const { approvalId } = opened.body['approvals'][0];
    await approve(approver, approvalId);
    const offer = await pullOne(agent, 'w');
    expect((await resume(agent, offer['leaseId'], 'w')).status).toBe(200);
    const mine = { workerId: 'w', attempt: 1 };
    const { argsDigest } = offer['results'][0];
    expect((await agent.post(`/v1/approvals/${approvalId}/use`, { ...mine, argsDigest }, odd)).status).toBe(200);
    expect((await agent.post(`/v1/approvals/${approvalId}/outcome`, { ...mine, ok: true }, odd)).status).toBe(200);
    const names = await headersOf(await as('operator'), ['EVENTS', 'COMMANDS']);
    expect(names.filter((name) => !CLOSED_LIST.includes(name))).toEqual([]);
  });

  it('sent by whoever stole a key, it is seen at once, and nobody is told what is not so', async () => {
    const { approvalIds } = await openTurn(agent);
    const headers = natsHeaders();
    headers.set('Nats-Expected-Last-Msg-Id', 'nobody');
    await (await as('approval-service')).request('hp.v1.e1.sec.x.dec', '{}', { headers, timeout: 5_000 });
    const orchestrator = await as('orchestrator');
    const takesWrites = await eventually(async () => {
      const taken = await orchestrator.request('hp.v1.e1.sec.x.req', '{}', { timeout: 3_000 }).then(
        () => true,
        () => false,
      );
      expect((await fetch(`${world.url}/readyz`)).status).toBe(taken ? 200 : 503);
      return taken;
    });
    const { status, body } = await decide(approver, approvalIds[0], { decision: 'approve' });
    if (takesWrites) expect({ status, verdict: body['verdict'] }).toEqual({ status: 200, verdict: 'counted' });
    else expect({ status, recorded: body['recorded'] }).toEqual({ status: 503, recorded: 'unknown' });
  });
});

async function headersOf(operator: NatsConnection, streams: readonly string[]): Promise<string[]> {
  const names = new Set<string>();
  for (const stream of streams)
    for (let seq = 1; ; seq += 1) {
      const answer = await operator.request(`$JS.API.STREAM.MSG.GET.${stream}`, JSON.stringify({ seq }));
      const { message } = answer.json<{ message?: { hdrs?: string } }>();
      if (!message) break;
      const lines = Buffer.from(message.hdrs ?? '', 'base64')
        .toString()
        .split('\r\n')
        .slice(1);
      for (const line of lines.filter((text) => text.includes(':'))) names.add(line.split(':')[0]?.toLowerCase() ?? '');
    }
  return [...names].sort();
}
