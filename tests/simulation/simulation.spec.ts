import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { fastify } from 'fastify';
import type { SimulatePolicy } from '#contracts/policies/commands';
import type { Tenant } from '#contracts/ids';
import type { Log, RawFact } from '#event-log/log';
import { ndjson } from '../../apps/gateway/src/http/ndjson.js';
import { simulate, type Line } from '../../apps/gateway/src/policies/simulate.js';
import { linesOf } from '../bench/ndjson.js';
import { decided, opened, requested, TENANT, TestLog } from '../read-model/facts.js';

const APPROVING: SimulatePolicy = {
  rules: [{ id: 'mail', tools: ['send_*'], then: 'approve' }],
  default: { approvers: { count: 1 } },
};
/** What it says of each call is so long that no socket takes in what it says of all. */
const WORDY: SimulatePolicy = {
  rules: Array.from({ length: 100 }, (_, n) => ({ id: `${n}`.padStart(100, 'r'), tools: ['*'], then: 'require' })),
  default: { approvers: { count: 1 } },
};

/** Gives what another log has, and counts what it gave and to how many it is still giving. */
class CountingLog implements Pick<Log, 'follow' | 'state'> {
  given = 0;
  readers = 0;

  constructor(private readonly log: TestLog) {}

  state = () => this.log.state();

  async *follow(after: number, signal: AbortSignal): AsyncIterable<RawFact> {
    this.readers += 1;
    try {
      for await (const raw of this.log.follow(after, signal)) {
        this.given += 1;
        yield raw;
      }
    } finally {
      this.readers -= 1;
    }
  }
}

function recorded(requests: number): TestLog {
  const log = new TestLog().tell(opened);
  for (let n = 0; n < requests; n++)
    log.tell(requested(`t-${n}`), decided(`t-${n}`, n % 5 === 0 ? 'denied' : 'approved'));
  return log;
}

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => void (await Promise.all(stops.splice(0).map((stop) => stop()))));

/** The answer as a client gets it, over a real socket. */
async function asked(log: CountingLog, draft: SimulatePolicy): Promise<IncomingMessage> {
  const server = fastify({ forceCloseConnections: true });
  server.get('/', (_, reply) => reply.type('application/x-ndjson').send(ndjson(simulate(log, TENANT, draft))));
  await server.listen({ port: 0, host: '127.0.0.1' });
  stops.push(() => server.close());
  const { port } = server.server.address() as AddressInfo;
  const sent = request({ port, host: '127.0.0.1', agent: false });
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return answer;
}

/** What is given no more, for a while. */
async function settled(log: CountingLog): Promise<number> {
  for (let before = -1; before !== log.given; await sleep(500)) before = log.given;
  return log.given;
}

describe('a simulation', () => {
  it('gives a line for each call, progress on the way and the sums last', async () => {
    const log = recorded(5_000).tell(requested('elsewhere', { tenant: 'other' as Tenant }));
    const lines: Line[] = [];
    for await (const line of simulate(log, TENANT, APPROVING)) lines.push(line);
    const ofType = (type: string) => lines.filter((line) => line.type === type);
    expect(ofType('call')).toHaveLength(5_000);
    expect(ofType('regret')).toHaveLength(1_000);
    expect(ofType('progress')).toEqual([{ type: 'progress', seq: 10_000, lastSeq: 10_002, calls: 5_000 }]);
    expect(ofType('sums')).toEqual([lines.at(-1)]);
    const sums = { calls: 5_000, changed: 5_000, askedFewer: 5_000, askedMore: 0, failures: 0, regret: 1_000 };
    expect(lines.at(-1)).toEqual({ type: 'sums', lastSeq: 10_002, ...sums });
  });

  it('reads no further than its client has taken, and goes on when that goes on', async () => {
    const requests = 2_000;
    const log = new CountingLog(recorded(requests));
    const lines = linesOf(await asked(log, WORDY));
    expect((await lines.next()).value).toMatchObject({ type: 'call' });
    expect(await settled(log)).toBeLessThan(2 * requests);
    expect(log.readers).toBe(1);
    let last: unknown;
    for await (const line of lines) last = line;
    expect(last).toMatchObject({ type: 'sums', calls: requests });
    expect(log.readers).toBe(0);
  });

  it('is over when its client goes away', async () => {
    const requests = 2_000;
    const log = new CountingLog(recorded(requests));
    const answer = await asked(log, WORDY);
    await once(answer, 'readable');
    answer.destroy();
    await settled(log);
    expect(log.given).toBeLessThan(2 * requests);
    expect(log.readers).toBe(0);
  });
});
