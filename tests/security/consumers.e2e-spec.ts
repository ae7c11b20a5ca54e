import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fresh, openIdentities, publish, type Identities } from './identities.js';

const COMMAND = () => `hp.cmd.v1.e1.sec.pool.tn_${fresh()}.all`;
const FACT = (kind: string) => `hp.v1.e1.sec.${fresh()}.${kind}`;
interface Wanted {
  readonly who: string;
  readonly stream: 'EVENTS' | 'COMMANDS';
  readonly name?: string;
  readonly config?: { readonly filter_subject?: string; readonly [field: string]: unknown };
}

/** Whoever may make a subscription names where the broker itself delivers: its own hand must not write for them. */
describe.each([
  ['one server', false],
  ['a cluster of three', true],
])('subscriptions, on %s', (_, cluster) => {
  let log: Identities;
  beforeAll(async () => {
    log = await openIdentities(cluster);
    await publish(log.as('gateway'), COMMAND());
    await publish(log.as('approval-service'), FACT('use'));
  });
  afterAll(() => log.close());

  /** Whether it was made. */
  const make = async ({ who, stream, name = fresh(), config = {} }: Wanted): Promise<boolean> => {
    const filter = config.filter_subject;
    const subject = `$JS.API.CONSUMER.CREATE.${stream}.${name}${filter === undefined ? '' : `.${filter}`}`;
    const body = { stream_name: stream, config: { name, ack_policy: 'none', deliver_policy: 'all', ...config } };
    const answer = await log
      .as(who)
      .request(subject, JSON.stringify(body), { timeout: 1_000 })
      .then(
        (message) => message.json<{ error?: unknown }>(),
        () => ({ error: 'no answer' }),
      );
    return answer.error === undefined;
  };

  it('are made on each stream by those alone who cannot write there', async () => {
    const commands = { filter_subject: 'hp.cmd.v1.>' };
    const tries: [Wanted, boolean][] = [
      [{ who: 'gateway', stream: 'EVENTS' }, true],
      [{ who: 'orchestrator', stream: 'COMMANDS', config: commands }, true],
      [{ who: 'gateway', stream: 'COMMANDS' }, false],
      [{ who: 'gateway', stream: 'COMMANDS', config: commands }, false],
      [{ who: 'orchestrator', stream: 'COMMANDS' }, false],
      ...['orchestrator', 'approval-service', 'audit', 'operator'].map((who): [Wanted, boolean] => [
        { who, stream: 'EVENTS' },
        false,
      ]),
      ...['approval-service', 'audit', 'operator'].map((who): [Wanted, boolean] => [
        { who, stream: 'COMMANDS', config: commands },
        false,
      ]),
      ...['gateway', 'orchestrator', 'approvals', 'projector'].map((name): [Wanted, boolean] => [
        { who: 'gateway', stream: 'EVENTS', name, config: { durable_name: name } },
        false,
      ]),
    ];
    for (const [wanted, made] of tries) expect({ wanted, made: await make(wanted) }).toEqual({ wanted, made });
  });

  it('deliver nothing into the log, neither what is there nor what comes', async () => {
    const targets = { EVENTS: [FACT('dec'), FACT('req'), FACT('use')], COMMANDS: [COMMAND()] };
    const before = await log.streams();
    const all = [...targets.EVENTS, ...targets.COMMANDS, '$JS.API.STREAM.PURGE.EVENTS', '_INBOX.approval-service.x'];
    for (const deliver_subject of all) {
      await make({ who: 'gateway', stream: 'EVENTS', config: { deliver_subject } });
      await make({ who: 'bootstrap', stream: 'EVENTS', config: { deliver_subject } });
      await make({ who: 'bootstrap', stream: 'COMMANDS', config: { deliver_subject } });
      const filtered = { filter_subject: 'hp.cmd.v1.>', deliver_subject };
      await make({ who: 'orchestrator', stream: 'COMMANDS', config: filtered });
    }
    await publish(log.as('gateway'), COMMAND());
    await publish(log.as('approval-service'), FACT('use'));
    await sleep(1_500);
    const after = await log.streams();
    for (const stream of ['EVENTS', 'COMMANDS'] as const) {
      const { messages, last } = before[stream];
      expect({ stream, ...after[stream] }).toEqual({
        ...before[stream],
        stream,
        messages: messages + 1,
        last: last + 1,
      });
    }
    for (const subject of all.slice(0, 4))
      expect({ subject, stored: await log.stored(subject) }).toEqual({ subject, stored: false });
  });
});
