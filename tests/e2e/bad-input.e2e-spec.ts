import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectBroker, type Broker } from '#service/broker';
import { api, type Api } from '../support/api.js';
import { openTurn } from '../support/stories.js';
import { World } from '../support/world.js';
import { BODIES } from './bad-bodies.table.js';
import { GRANTS } from './bad-grants.table.js';
import { BAD_INPUT, type BadRow } from './bad-input.table.js';
import { BAD_PATHS } from './bad-paths.table.js';
import { QUERIES } from './bad-queries.table.js';

const ROWS: readonly BadRow[] = [...BAD_INPUT, ...BODIES, ...BAD_PATHS, ...GRANTS, ...QUERIES];

describe('bad input', () => {
  let world: World;
  let broker: Broker;
  let pending: string;
  const by = new Map<string, Api>();

  beforeAll(async () => {
    world = await World.start();
    by.set('agent', await world.agent('worker'));
    by.set('approver', await world.approver('ada@example.com'));
    by.set('operator', await world.as('olga@example.com', { roles: ['operator'] }));
    by.set('admin', world.admin());
    by.set('nobody', api(world.url, ''));
    by.set('forger', api(world.url, `hp_tk_${'a'.repeat(26)}_${'b'.repeat(43)}`));
    pending = (await openTurn(by.get('agent') ?? world.admin())).approvalIds[0] ?? '';
    broker = await connectBroker(
      { natsUrl: world.natsUrl, natsCredsDir: world.servers.credsDir, natsCa: undefined },
      'gateway',
    );
  });
  afterAll(async () => {
    await broker.close();
    await world.stop();
  });

  const lastSeqs = async () => [(await broker.events.state()).lastSeq, (await broker.commands.state()).lastSeq];

  const send = ({ method = 'POST', path, body, text, headers = {}, by: who = 'agent' }: BadRow) => {
    const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const type: Record<string, string> = payload === undefined ? {} : { 'content-type': 'application/json' };
    const where = path.replace('{pending}', pending).replace('{beyond}', pending.replace(/_0$/, '_1'));
    const init = {
      method,
      headers: { ...type, ...headers },
      ...(payload === undefined || method === 'GET' ? {} : { body: payload }),
    };
    return (by.get(who) ?? world.admin()).raw(where, init);
  };

  it('is tried in more than a thousand ways', () => expect(ROWS.length).toBeGreaterThan(1_000));

  it.each(ROWS.map((row): [string, BadRow] => [row.name, row]))('%s', async (_, row) => {
    const before = await lastSeqs();
    const answer = await send(row);
    expect({ status: answer.status, type: answer.body['type'] }).toEqual({
      status: row.status,
      type: `urn:holdpoint:problem:${row.problem}`,
    });
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(String(answer.body['detail']).length).toBeGreaterThan(5);
    if (row.at !== undefined) {
      const paths = (answer.body['errors'] as { path: string }[] | undefined)?.map(({ path }) => path) ?? [];
      expect(paths).toEqual(
        expect.arrayContaining([expect.stringMatching(new RegExp(`^${row.at.replace(/[[\].]/g, '\\$&')}`))]),
      );
    }
    expect(await lastSeqs()).toEqual(before);
  });
});
