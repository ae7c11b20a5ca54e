import { setTimeout as sleep } from 'node:timers/promises';
import { digestOf } from '#contracts/canonical';
import type { Policy } from '#contracts/policies/policy';
import { compilePolicy } from '#policy/compiled';
import { ruleOn } from '#policy/ruling';
import { World } from '../support/world.js';
import { below, latency, median } from './figures.js';
import { clientsOf, expected, turnOf, type Clients } from './loop.js';
import type { BenchOptions } from './options.js';

const RULES = 100;
const RULINGS = 2_000;
const PAUSE_MS = 500;

/** None matches but the last: all are asked. */
const POLICY: Policy = {
  rules: Array.from({ length: RULES }, (_, n) => ({
    id: `rule-${n}`,
    tools: ['send_*'],
    when: `args.subject.startsWith('${n === RULES - 1 ? 'The' : `No ${n}`}') && size(args.to) > 3 && agent.id != 'nobody'`,
    then: 'require',
    require: { approvers: { count: 1 } },
  })),
  default: { approvers: { count: 1 } },
};

/** What a hundred rules cost on one request, against the time in which a decision without any is answered. */
export async function* policy({ seconds = 5, rounds = 3 }: BenchOptions): AsyncGenerator<object> {
  const world = await World.start();
  try {
    const clients = await clientsOf(world, 1);
    await decisions(clients, seconds / 5);
    rulings();
    const ratios: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      const product = latency(rulings());
      await sleep(PAUSE_MS);
      const floor = latency(await decisions(clients, seconds));
      yield { part: 'round', round, rules: RULES, product, floor };
      ratios.push(product.p50Ms / floor.p50Ms);
    }
    yield below(median(ratios), 0.1);
  } finally {
    await world.stop();
  }
}

/** Milliseconds of each ruling. */
function rulings(): number[] {
  const compiled = compilePolicy(1, POLICY);
  const args = { to: 'x@example.com', subject: 'The invoice', body: 'Please find the invoice of November attached.' };
  const call = { toolName: 'send_email', server: 'gmail', args, argsDigest: digestOf(args) };
  const request = { agent: { id: 'billing-agent' }, conversationId: 'conv-1' };
  return Array.from({ length: RULINGS }, () => {
    const begun = performance.now();
    if (ruleOn(compiled, request, call).rules.length !== 1) throw new Error('One rule matches, and no other');
    return performance.now() - begun;
  });
}

/** One after the other: milliseconds until each was answered. */
async function decisions({ agent, approver }: Clients, seconds: number): Promise<number[]> {
  const until = performance.now() + seconds * 1_000;
  const samples: number[] = [];
  while (performance.now() < until) {
    const opened = expected(201, await agent('/v1/turns', turnOf()));
    const begun = performance.now();
    const path = `/v1/approvals/${opened['approvals'][0].approvalId}/decision`;
    expected(200, await approver(path, { decision: 'approve' }));
    samples.push(performance.now() - begun);
  }
  return samples;
}
