import { createServer, connect, type AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { openProjectorPool, withClient } from './pools.js';

/** "I" is idle: the session is ready. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
const ENDED = (() => {
  const fields = Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0');
  const head = Buffer.from([0x45, 0, 0, 0, 0]);
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
})();

/** Before Postgres: that a session is ready arrives in one piece with that it was ended. */
async function endedAtOnce(databaseUrl: string) {
  const { hostname, port } = new URL(databaseUrl);
  const server = createServer((client) => {
    const postgres = connect(Number(port), hostname);
    client.on('error', () => undefined).pipe(postgres.on('error', () => undefined));
    postgres.on('data', (data) => {
      if (!data.subarray(-READY.length).equals(READY)) return void client.write(data);
      client.end(Buffer.concat([data, ENDED]));
      postgres.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: Object.assign(new URL(databaseUrl), { host }).toString(),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

describe('a session that is ended in the moment in which it is ready', () => {
  it('fails who works on it, and nothing else', async () => {
    const postgres = await endedAtOnce(process.env['HOLDPOINT_TEST_DATABASE_URL'] ?? '');
    const pool = openProjectorPool(postgres.url);
    await expect(withClient(pool, (client) => client.query('SELECT 1'))).rejects.toThrow(/not queryable|terminat/);
    await pool.end();
    await postgres.close();
  });
});
