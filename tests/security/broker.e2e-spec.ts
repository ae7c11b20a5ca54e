import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect, headers as natsHeaders, nkeyAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import { bootstrap } from '#event-log/bootstrap';
import { factSubjects, identityNames } from '../../deploy/nats/permissions.mjs';
import { startTestServers, type TestServers } from '../../tools/test-servers.mjs';

/** A subject of each kind of fact that there is, under ids that nobody else has. */
let count = 0;
const subjectOf = (kind: string) =>
  kind.replace('hp.cmd.v1.>', `hp.cmd.v1.e1.sec.pool.tn_${(count += 1)}.all`).replace(/\*/g, () => `x${(count += 1)}`);
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
  'STREAM.UPDATE.COMMANDS',
  'STREAM.DELETE.COMMANDS',
  'STREAM.PURGE.COMMANDS',
  'STREAM.MSG.DELETE.COMMANDS',
  'CONSUMER.DELETE.EVENTS.gateway',
  'CONSUMER.DELETE.EVENTS.approvals',
  'CONSUMER.DELETE.EVENTS.projector',
];

/** Each must store nothing, or one plain message under its own subject; nothing else may change. */
const SPECIAL_HEADERS: Record<string, string>[] = [
  { 'Nats-Rollup': 'all' },
  { 'Nats-Rollup': 'sub' },
  { 'Nats-TTL': '1s' },
  { 'Nats-Schedule': '@at 2020-01-01T00:00:00Z', 'Nats-Schedule-Target': 'hp.v1.e1.sec.forged.dec' },
  { 'Nats-Schedule-Target': 'hp.v1.e1.sec.forged.dec' },
  { 'Nats-Scheduler': 'hp.v1.e1.sec.forged.dec', 'Nats-Schedule-Next': 'purge' },
  { 'Nats-Msg-Id': 'squatted' },
  { 'Nats-Expected-Stream': 'COMMANDS' },
  { 'Nats-Expected-Last-Sequence': '1' },
  { 'Nats-Incr': '1' },
  { 'Nats-Batch-Id': 'b', 'Nats-Batch-Sequence': '1', 'Nats-Batch-Commit': '1' },
];

describe.each([
  ['one server', false],
  ['a cluster of three', true],
])('who may do what, on %s', (_, cluster) => {
  const connections = new Map<string, NatsConnection>();
  let servers: TestServers;

  beforeAll(async () => {
    servers = await startTestServers({ cluster });
    const { credsDir } = servers;
    const url = cluster ? servers.clusterUrls.join(',') : servers.natsUrl;
    await bootstrap({ url, seedFile: join(credsDir, 'bootstrap.nk'), replicas: cluster ? 3 : 1 });
    for (const identity of identityNames) connections.set(identity, await connectAs(url, identity, credsDir));
  });
  afterAll(async () => {
    for (const connection of connections.values()) await connection.close();
    await servers.stop();
  });

  const as = (identity: string): NatsConnection => {
    const connection = connections.get(identity);
    if (!connection) throw new Error(`No connection for ${identity}`);
    return connection;
  };
  const api = async (identity: string, call: string, body: object = {}): Promise<Record<string, any>> =>
    (await as(identity).request(`$JS.API.${call}`, JSON.stringify(body), { timeout: 5_000 })).json();
  const stored = async (subject: string): Promise<boolean> => {
    const stream = subject.startsWith('hp.cmd') ? 'COMMANDS' : 'EVENTS';
    return (await api('operator', `STREAM.MSG.GET.${stream}`, { last_by_subj: subject }))['error'] === undefined;
  };
  const publish = async (identity: string, subject: string, fields: Record<string, string> = {}): Promise<void> => {
    const headers = natsHeaders();
    for (const [name, value] of Object.entries(fields)) headers.set(name, value);
    await as(identity)
      .request(subject, '{}', { timeout: 400, headers })
      .catch(() => undefined);
  };
  const streams = async () => {
    const info = await Promise.all(['EVENTS', 'COMMANDS'].map((name) => api('operator', `STREAM.INFO.${name}`)));
    return info.map(({ config, state }) => ({
      config,
      messages: state.messages,
      last: state.last_seq,
      deleted: state.num_deleted ?? 0,
    }));
  };

  it('every kind of fact is stored for its one writer, and for nobody else', async () => {
    const results = await Promise.all(
      PAIRS.map(async ([who, owner, kind]) => {
        const subject = subjectOf(kind);
        await publish(who, subject);
        as(who).publish(subject, '{}');
        await as(who).flush();
        const may = who === owner && kind !== 'hp.v1.*._sys.genesis';
        return { who, kind, stored: await stored(subject), may: may || who === owner };
      }),
    );
    for (const { who, kind, stored: is, may } of results)
      expect({ who, kind, stored: is }).toEqual({ who, kind, stored: may });
  });

  it('nobody may change, empty or remove a stream, or take away what another stands on', async () => {
    const before = await streams();
    for (const identity of identityNames)
      for (const call of FORBIDDEN_API)
        await expect(as(identity).request(`$JS.API.${call}`, '{}', { timeout: 300 })).rejects.toThrow();
    expect(await streams()).toEqual(before);
  }, 120_000);

  it('no special header does anything but be refused, or be kept with its own message', async () => {
    for (const fields of SPECIAL_HEADERS) {
      const [before] = await streams();
      const subject = `hp.v1.e1.sec.h${(count += 1)}.dec`;
      await publish('approval-service', subject, fields);
      const [after] = await streams();
      const own = (await stored(subject)) ? 1 : 0;
      expect({ fields, ...after }).toEqual({
        fields,
        ...before,
        messages: before?.messages + own,
        last: before?.last + own,
      });
    }
    expect(await stored('hp.v1.e1.sec.forged.dec')).toBe(false);
  });

  it('only the gateway may ask the deciders, and only a decider answers in its own name', async () => {
    for (const service of ['orchestrator', 'approval-service']) {
      const server = as(service).subscribe(`hp.rpc.v1.${service}.Ping`, {
        queue: service,
        callback: (_, message) => void message.respond('pong'),
      });
      await as(service).flush();
      const ask = (who: string) =>
        as(who)
          .request(`hp.rpc.v1.${service}.Ping`, '', { timeout: 500 })
          .then(
            (answer) => answer.string(),
            () => undefined,
          );
      expect(await ask('gateway')).toBe('pong');
      for (const other of identityNames.filter((name) => name !== 'gateway' && name !== service))
        expect({ other, answer: await ask(other) }).toEqual({ other, answer: undefined });
      server.unsubscribe();
    }
  });

  it('nobody hears what is answered to others', async () => {
    for (const who of identityNames)
      for (const filter of ['_INBOX.>', `_INBOX.${who === 'gateway' ? 'orchestrator' : 'gateway'}.>`, 'hp.v1.>', '>']) {
        const refused = new Promise<boolean>((resolve) => {
          as(who).subscribe(filter, { callback: (error) => resolve(error !== null) });
          setTimeout(() => resolve(false), 2_000);
        });
        expect({ who, filter, refused: await refused }).toEqual({ who, filter, refused: true });
      }
  });

  it('a subscription cannot be made to deliver into the log', async () => {
    const before = await streams();
    const target = `hp.v1.e1.sec.forged${(count += 1)}.dec`;
    const consumer = (stream: string, deliver_subject: string) => ({
      stream_name: stream,
      config: { name: `f${(count += 1)}`, deliver_subject, ack_policy: 'none', deliver_policy: 'all' },
    });
    const make = (who: string, stream: string, filter: string, deliver: string) => {
      const body = consumer(stream, deliver);
      const tail = filter === '' ? '' : `.${filter}`;
      return as(who)
        .request(
          `$JS.API.CONSUMER.CREATE.${stream}.${body.config.name}${tail}`,
          JSON.stringify(filter === '' ? body : { ...body, config: { ...body.config, filter_subject: filter } }),
          { timeout: 500 },
        )
        .catch(() => undefined);
    };
    await publish('gateway', 'hp.cmd.v1.e1.sec.pool.tn_forger.all');
    await make('gateway', 'EVENTS', '', target);
    await make('gateway', 'EVENTS', '', 'hp.cmd.v1.e1.sec.pool.tn_forged.all');
    await make('gateway', 'COMMANDS', 'hp.cmd.v1.>', target);
    await make('orchestrator', 'COMMANDS', 'hp.cmd.v1.>', target);
    await make('orchestrator', 'COMMANDS', 'hp.cmd.v1.>', `hp.v1.e1.sec.forged${(count += 1)}.req`);
    await make('approval-service', 'EVENTS', '', target);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const after = await streams();
    expect(after[0]).toEqual(before[0]);
    expect(after[1]?.messages - before[1]?.messages).toBeLessThanOrEqual(1);
    expect(await stored(target)).toBe(false);
  });
});

const connectAs = (url: string, identity: string, credsDir: string): Promise<NatsConnection> =>
  connect({
    servers: url.split(','),
    authenticator: nkeyAuthenticator(
      new TextEncoder().encode(readFileSync(join(credsDir, `${identity}.nk`), 'utf8').trim()),
    ),
    inboxPrefix: `_INBOX.${identity}`,
    name: identity,
  });
