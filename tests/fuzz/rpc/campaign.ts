import fc from 'fast-check';
import type { NatsConnection } from '@nats-io/transport-node';
import { APPROVAL_COMMANDS, ORCHESTRATOR_COMMANDS, rpcSubject } from '#contracts/rpc';
import { REASONS } from '#contracts/refusals';
import { tryProperty, type Budget, type Outcome } from '../campaign.js';
import { writing } from '../generate/damage.js';
import { hostileText, plainJson } from '../generate/hostile.js';
import { WatchedWorld } from '../watched-world.js';
import { turnIds } from '../turn-ids.js';

const ANSWER_MS = 30_000;
const SUBJECTS = [
  ...ORCHESTRATOR_COMMANDS.map((command) => rpcSubject.orchestrator(command)),
  ...APPROVAL_COMMANDS.map((command) => rpcSubject['approval-service'](command)),
];

/** What Nest writes of a message that is no question. */
const IGNORED = /SyntaxError: .*JSON|no matching event handler/;
const isNoNoise = (line: string): boolean => !IGNORED.test(line);

interface Asked {
  readonly subject: string;
  readonly bytes: Uint8Array;
}

/** The services' own door on NATS, asked by the gateway's identity with what no gateway would send. */
export async function rpcCampaign(budget: Budget): Promise<Outcome> {
  const watched = await WatchedWorld.start();
  const counts: Record<string, number> = {};
  try {
    const property = fc.asyncProperty(anyAsk(watched.world.admin().token), async (asked) => {
      const answer = isQuestion(asked.bytes)
        ? await ask(watched.broker.connection, asked)
        : await sendNoise(watched.broker.connection, asked);
      const key = `${asked.subject.split('.').slice(3).join(' ')} ${answer}`;
      counts[key] = (counts[key] ?? 0) + 1;
      const troubles = watched.takeTroubles().filter(isNoNoise);
      if (troubles.length > 0) throw new Error(`A service is in trouble: ${troubles.join('\n')}`);
    });
    const { runs, findings } = await tryProperty(property, budget);
    await watched.world.ready();
    return {
      name: 'rpc',
      runs,
      findings: [...findings, ...watched.takeTroubles().filter(isNoNoise)],
      figures: { answers: counts },
    };
  } finally {
    await watched.stop();
  }
}

const NOISE = 'no question';

/** What is no JSON, or has no id to answer to, is no question to a Nest service. */
function isQuestion(bytes: Uint8Array): boolean {
  try {
    const packet: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof packet === 'object' && packet !== null && 'id' in packet;
  } catch {
    return false;
  }
}

const HEALTH = new TextEncoder().encode(JSON.stringify({ pattern: '', data: {}, id: 'x' }));

/** It is not answered, and the service goes on. */
async function sendNoise(connection: NatsConnection, { subject, bytes }: Asked): Promise<string> {
  connection.publish(subject, bytes);
  const service = subject.split('.')[3] === 'orchestrator' ? 'orchestrator' : 'approval-service';
  await ask(connection, { subject: rpcSubject[service]('Health'), bytes: HEALTH });
  return NOISE;
}

/** An answer of the contract, or that it was not understood; never silence. */
async function ask(connection: NatsConnection, { subject, bytes }: Asked): Promise<string> {
  const { data } = await connection.request(subject, bytes, { timeout: ANSWER_MS });
  const { response, err } = JSON.parse(new TextDecoder().decode(data)) as { response?: unknown; err?: unknown };
  if (err !== undefined && err !== null) return 'error';
  const reply = response as { ok?: unknown; refusal?: { reason?: unknown } } | undefined;
  if (reply?.ok === true) return 'ok';
  const reason = String(reply?.refusal?.reason);
  if (reply?.ok !== false || !(REASONS as readonly string[]).includes(reason))
    throw new Error(`It is no answer: ${JSON.stringify(response)}`);
  return reason;
}

function anyAsk(token: string): fc.Arbitrary<Asked> {
  const packet = fc.record({ pattern: hostileText(), data: asks(token), id: hostileText() }, { noNullPrototype: true });
  const packets = fc.oneof({ arbitrary: packet, weight: 9 }, { arbitrary: asks(token), weight: 1 });
  return fc.tuple(fc.constantFrom(...SUBJECTS), packets, writing()).map(([subject, packet, write]) => {
    return { subject, bytes: write({ ...packet, ...('data' in packet ? { pattern: subject } : {}) }) };
  });
}

/** As Nest's own client wraps it, and with everything about the caller wrong in some way. */
function asks(token: string) {
  const { turnKeys, approvalIds } = turnIds;
  const field = fc.constantFrom(
    'turnKey',
    'approvalId',
    'key',
    'pool',
    'workerId',
    'attempt',
    'decision',
    'reason',
    'conversationId',
    'toolCalls',
    'agent',
    'ok',
  );
  const value = fc.oneof(plainJson, fc.constantFrom<unknown>(...turnKeys, ...approvalIds, 1, 'approve', 'w-1'));
  const body = fc.oneof(fc.dictionary(field, value, { noNullPrototype: true }), plainJson);
  return fc.record(
    {
      token: fc.oneof({ arbitrary: fc.constant<unknown>(token), weight: 5 }, { arbitrary: plainJson, weight: 1 }),
      tenant: fc.oneof(
        fc.constantFrom<unknown>(...Array<string>(12).fill('default'), '_sys', 'a.b', '*', null, 7, {}),
        hostileText(),
      ),
      idempotencyKey: fc.oneof(fc.constantFrom<unknown>(...Array<string>(12).fill('k-1'), 7, {}, null), hostileText()),
      traceparent: fc.oneof(fc.constantFrom<unknown>(7, {}, 'x', 'y', '\r\nNats-Rollup: all'), hostileText()),
      body,
    },
    { requiredKeys: [], noNullPrototype: true },
  );
}
