import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { factSubjects, identityNames } from '../../deploy/nats/permissions.mjs';
import { eventually } from '../support/world.js';
import { fresh, openIdentities, publish, subjectOf, type Identities } from './identities.js';

const KINDS = identityNames.flatMap((owner) => factSubjects(owner).map((kind): [string, string] => [owner, kind]));
const PAIRS = identityNames.flatMap((who) =>
  KINDS.map(([owner, kind]): [string, string, string] => [who, owner, kind]),
);

const FORBIDDEN_API = [
  'STREAM.UPDATE.EVENTS',
  'STREAM.DELETE.EVENTS',
  'STREAM.PURGE.EVENTS',
  'STREAM.MSG.DELETE.EVENTS',
  'STREAM.SNAPSHOT.EVENTS',
  'STREAM.RESTORE.EVENTS',
  'STREAM.LEADER.STEPDOWN.EVENTS',
  'STREAM.PEER.REMOVE.EVENTS',
  'STREAM.UPDATE.COMMANDS',
  'STREAM.DELETE.COMMANDS',
  'STREAM.PURGE.COMMANDS',
  'STREAM.MSG.DELETE.COMMANDS',
  'STREAM.RESTORE.COMMANDS',
  'CONSUMER.DELETE.EVENTS.gateway',
  'CONSUMER.DELETE.EVENTS.orchestrator',
  'CONSUMER.DELETE.EVENTS.approvals',
  'CONSUMER.DELETE.EVENTS.projector',
  'CONSUMER.PAUSE.EVENTS.projector',
  'DIRECT.GET.EVENTS',
];

/** Stops a stream of three, which has a test of its own (docs/decisions/0012). */
const ALONE_ONLY = [{ 'Nats-Expected-Last-Msg-Id': 'nobody' }];
const FORGED = 'hp.v1.e1.sec.forged.dec';
/** Each must store nothing, or one plain message under its own subject; nothing else may change. */
const SPECIAL_HEADERS: Record<string, string>[] = [
  { 'Nats-Rollup': 'all' },
  { 'Nats-Rollup': 'sub' },
  { 'Nats-TTL': '1s' },
  { 'Nats-Schedule': '@at 2020-01-01T00:00:00Z', 'Nats-Schedule-Target': FORGED },
  { 'Nats-Schedule-Target': FORGED },
  { 'Nats-Scheduler': FORGED, 'Nats-Schedule-Next': 'purge' },
  { 'Nats-Msg-Id': 'squatted' },
  { 'Nats-Expected-Stream': 'COMMANDS_OR_EVENTS' },
  { 'Nats-Expected-Last-Sequence': '1' },
  { 'Nats-Expected-Last-Subject-Sequence': '999' },
  { 'Nats-Expected-Last-Subject-Sequence': '0', 'Nats-Expected-Last-Subject-Sequence-Subject': 'hp.v1.e1.sec.*.dec' },
  { 'Nats-Expected-Last-Subject-Sequence': '999', 'Nats-Expected-Last-Subject-Sequence-Subject': FORGED },
  { 'Nats-Incr': '1' },
  { 'Nats-Batch-Id': 'b', 'Nats-Batch-Sequence': '1', 'Nats-Batch-Commit': '1' },
  { 'Nats-Batch-Id': 'c', 'Nats-Batch-Sequence': '1' },
  { 'Nats-Marker-Reason': 'Purge' },
  { 'Nats-Subject': FORGED, 'Nats-Sequence': '1' },
  { 'Nats-Required-Api-Level': '99' },
];

describe.each([
  ['one server', false],
  ['a cluster of three', true],
])('who may do what, on %s', (_, cluster) => {
  let log: Identities;
  beforeAll(async () => {
    log = await openIdentities(cluster);
  });
  afterAll(() => log.close());

  it('every kind of fact is stored for its one writer, and for nobody else', async () => {
    const results = await Promise.all(
      PAIRS.map(async ([who, owner, kind]) => {
        const subject = subjectOf(kind);
        await publish(log.as(who), subject);
        log.as(who).publish(subject, '{}');
        await log.as(who).flush();
        return { who, kind, expected: who === owner, stored: await log.stored(subject) };
      }),
    );
    for (const { who, kind, stored, expected } of results)
      expect({ who, kind, stored }).toEqual({ who, kind, stored: expected });
  });

  it('no fact is ever replaced, by whoever may write its kind', async () => {
    for (const [owner, kind] of KINDS) {
      const subject = subjectOf(kind);
      await publish(log.as(owner), subject);
      const before = await log.streams();
      for (const fields of [{}, { 'Nats-Rollup': 'sub' }, { 'Nats-Msg-Id': subject }, { 'Nats-TTL': '1s' }])
        await publish(log.as(owner), subject, fields);
      expect({ kind, ...(await log.streams()) }).toEqual({ kind, ...before });
    }
  });

  it('nobody may change, empty or remove a stream, or take away what another stands on', async () => {
    const before = await log.streams();
    for (const identity of identityNames)
      for (const call of FORBIDDEN_API)
        await expect(log.as(identity).request(`$JS.API.${call}`, '{}', { timeout: 300 })).rejects.toThrow();
    expect(await log.streams()).toEqual(before);
  }, 180_000);

  it('no special header does anything but be refused, or be kept with its own message', async () => {
    for (const who of identityNames.filter((name) => factSubjects(name).length > 0))
      for (const fields of [...SPECIAL_HEADERS, ...(cluster ? [] : ALONE_ONLY)]) {
        const before = await log.streams();
        const subject = subjectOf(factSubjects(who)[0] ?? '');
        await publish(log.as(who), subject, fields);
        const stream = subject.startsWith('hp.cmd') ? 'COMMANDS' : 'EVENTS';
        const own = (await log.stored(subject)) ? 1 : 0;
        const { messages, last } = before[stream];
        const expected = { ...before, [stream]: { ...before[stream], messages: messages + own, last: last + own } };
        expect({ who, fields, ...(await log.streams()) }).toEqual({ who, fields, ...expected });
      }
    expect(await log.stored(FORGED)).toBe(false);
  }, 120_000);

  it('only the gateway may ask the deciders, and only a decider answers in its own name', async () => {
    for (const service of ['orchestrator', 'approval-service']) {
      const subject = `hp.rpc.v1.${service}.Ping`;
      const server = log.as(service).subscribe(subject, {
        queue: service,
        callback: (_error, message) => void message.respond('pong'),
      });
      await log.as(service).flush();
      const refused = `Permissions Violation for Publish to "${subject}"`;
      const ask = (who: string): Promise<string> =>
        log
          .as(who)
          .request(subject, '', { timeout: 500 })
          .then(
            (answer) => answer.string(),
            (error: Error) => error.message,
          );
      // The servers of a cluster tell each other of a subscription a moment after the client was answered.
      await eventually(async () => expect(await ask('gateway')).toBe('pong'));
      for (const other of identityNames.filter((name) => name !== 'gateway' && name !== service))
        expect({ other, answer: await ask(other) }).toEqual({ other, answer: refused });
      server.unsubscribe();
    }
  });

  it('nobody hears what is said or answered to others, or answers in another place', async () => {
    for (const who of identityNames)
      for (const filter of [
        '_INBOX.>',
        `_INBOX.${who === 'gateway' ? 'orchestrator' : 'gateway'}.>`,
        `hp.rpc.v1.${who === 'approval-service' ? 'orchestrator' : 'approval-service'}.>`,
        'hp.rpc.v1.>',
        'hp.v1.>',
        'hp.cmd.v1.>',
        '$JS.>',
        '>',
      ])
        expect({ who, filter, refused: await isRefused(log, who, filter) }).toEqual({ who, filter, refused: true });
  });

  it('an answer cannot be sent into the log', async () => {
    const before = await log.streams();
    const targets = identityNames.map((who) => ({ who, subject: `hp.v1.e1.sec.${fresh()}.dec` }));
    for (const { who, subject } of targets)
      for (const call of ['INFO', 'STREAM.INFO.EVENTS', 'STREAM.MSG.GET.EVENTS', 'CONSUMER.MSG.NEXT.EVENTS.gateway'])
        log.as(who).publish(`$JS.API.${call}`, '{"seq":1}', { reply: subject });
    for (const who of identityNames) await log.as(who).flush();
    await new Promise((resolve) => setTimeout(resolve, 500));
    for (const { who, subject } of targets.filter(({ who }) => who !== 'approval-service'))
      expect({ who, stored: await log.stored(subject) }).toEqual({ who, stored: false });
    expect((await log.streams()).COMMANDS).toEqual(before.COMMANDS);
  });
});

const isRefused = (log: Identities, who: string, filter: string): Promise<boolean> =>
  new Promise((resolve) => {
    log.as(who).subscribe(filter, { callback: (error) => resolve(error !== null) });
    setTimeout(() => resolve(false), 2_000);
  });
