import { setTimeout as sleep } from 'node:timers/promises';
import { headers as natsHeaders, type NatsConnection } from '@nats-io/transport-node';
import { connectAs } from '../../support/connect-as.js';
import { play } from '../scenario.js';
import { alarmed } from './alarm.js';
import type { OwnWorld } from './own-world.js';

interface Poison {
  readonly what: string;
  readonly identity: 'orchestrator' | 'approval-service' | 'gateway';
  readonly subject: string;
  readonly type: string;
  readonly body: string;
}

const id = (letter: string): string => letter.repeat(26);
const DEEP = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;

/** What a stolen key of each service can write where a fact belongs. */
const POISONS: readonly Poison[] = [
  {
    what: 'no JSON',
    identity: 'orchestrator',
    subject: `hp.v1.e1.default.tn_${id('a')}.req`,
    type: 'ToolApprovalRequested',
    body: '{"data":',
  },
  {
    what: 'an unknown type',
    identity: 'approval-service',
    subject: `hp.v1.e1.default.ap_${id('b')}_0.dec`,
    type: 'SomethingElse',
    body: '{"data":{}}',
  },
  {
    what: 'deep nesting',
    identity: 'orchestrator',
    subject: `hp.v1.e1.default.ap_${id('c')}_0.out`,
    type: 'ToolExecutionSucceeded',
    body: DEEP,
  },
  {
    what: 'a body of another subject',
    identity: 'orchestrator',
    subject: `hp.v1.e1.default.tn_${id('d')}.end`,
    type: 'TurnEnded',
    body: `{"data":{"turnKey":"tn_${id('e')}","turnId":"t","status":"completed"}}`,
  },
  {
    what: 'a continuation that is none',
    identity: 'gateway',
    subject: `hp.cmd.v1.e1.default.default.tn_${id('f')}.all`,
    type: 'ContinueConversation',
    body: '[]',
  },
];

/**
 * Bodies that no service writes, under the subjects of facts. Opening, deciding and continuing go on; the projector stops
 * at the first that it cannot read, with an alarm. What only the read model knows, deadlines, waits with it.
 */
export const poison: OwnWorld = {
  name: 'poison',
  whyNot: () => undefined,
  within: (run) => run({}),
  run: async (running) => {
    const { world } = running.place;
    const report = await play(running, {
      name: 'poison',
      longestPauseMs: 0,
      focus: { plots: { expire: 0 } },
      poison: new Set(POISONS.map(({ subject }) => subject)),
      faults: async () => {
        await sleep(2_000);
        for (const one of POISONS) {
          await write(one, { url: world.natsUrl, credsDir: world.servers.credsDir });
          await sleep(500);
        }
        await sleep(4_000);
        return [];
      },
    });
    const refused = await alarmed(world, 'unreadable');
    const what = 'the projector went on past a fact that it cannot read, or stopped without a word';
    const violations = refused ? [] : [{ invariant: 'I3', subject: 'read model', what } as const];
    const counts = Object.fromEntries(POISONS.map((one) => [one.what, 1]));
    return { ...report, faults: POISONS.length, counts, violations: [...report.violations, ...violations] };
  },
};

async function write(
  poison: Poison,
  { url, credsDir }: { readonly url: string; readonly credsDir: string },
): Promise<void> {
  const connection: NatsConnection = await connectAs({ url, identity: poison.identity, credsDir });
  const headers = natsHeaders();
  headers.set('ce-type', `holdpoint.${poison.type}.v1`);
  const answer = await connection.request(poison.subject, poison.body, { headers, timeout: 5_000 });
  await connection.close();
  const { error } = answer.json<{ error?: { description: string } }>();
  if (error) throw new Error(`The broker did not take ${poison.what}: ${error.description}`);
}
