import { describe, expect, it } from '@jest/globals';
import { instant, isTokenId, type Tenant, type TokenId } from '#contracts/ids';
import type { Caller } from '#contracts/roles';
import { subjects } from '#contracts/subjects';
import type { IssueToken } from '#contracts/tokens/commands';
import { MemoryLog } from '#event-log/memory-log';
import { readStory } from '#fold/read';
import { ADMIN_TOKEN_ID, Callers } from '#service/callers';
import { issue, revoke } from './handlers.js';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const admin: Caller = {
  tenant: 'default' as Tenant,
  tokenId: ADMIN_TOKEN_ID,
  subject: 'admin',
  roles: ['admin'],
  groups: [],
};
const tenantAdmin: Caller = { ...admin, tokenId: 'tk_x' as TokenId, subject: 'root@acme', tenant: 'acme' as Tenant };
const body: IssueToken = { name: 'inbox', subject: 'ada@example.com', roles: ['approver'] };

function service() {
  const log = new MemoryLog();
  return { log, clock: () => NOW };
}

function asked<Command>(command: Command, caller = admin, idempotencyKey?: string) {
  const actor = { kind: 'person', id: caller.subject, via: `token:${caller.tokenId}` } as const;
  const key = idempotencyKey === undefined ? {} : { idempotencyKey };
  return { command, context: { caller }, tenant: caller.tenant, actor, causationId: 'request:test', ...key };
}

async function issued(one: ReturnType<typeof service>, said: Partial<IssueToken> = {}, caller = admin) {
  const reply = await issue(one, asked({ ...body, ...said }, caller), 'bearer');
  if (!reply.ok) throw new Error(reply.refusal.reason);
  return reply.value;
}

describe('a token', () => {
  it('is good as soon as it is issued, and says who its holder is', async () => {
    const one = service();
    const made = await issued(one, { groups: ['payments'], expiresInSeconds: 60 });
    expect(made).toMatchObject({ tenant: 'default', seq: 1, expiresAt: instant(NOW + 60_000) });
    expect(isTokenId(made.id)).toBe(true);
    const caller = await new Callers(one.log, undefined, () => NOW).identify(made.token);
    expect(caller).toMatchObject({
      tenant: 'default',
      subject: 'ada@example.com',
      roles: ['approver'],
      groups: ['payments'],
    });
    expect(await new Callers(one.log, undefined, () => NOW + 60_000).identify(made.token)).toBeUndefined();
  });

  it('is nowhere in the log', async () => {
    const one = service();
    const { token } = await issued(one);
    const secret = token.slice(token.lastIndexOf('_', 32) + 1);
    expect(secret.length).toBeGreaterThan(40);
    expect(JSON.stringify(await readStory(one.log, 'hp.v1.>'))).not.toContain(secret);
  });

  it('is another each time without an Idempotency-Key', async () => {
    const one = service();
    const [first, second] = [await issued(one), await issued(one)];
    expect(first.id).not.toBe(second.id);
    expect(first.token).not.toBe(second.token);
  });

  it('lives in the tenant that the admin token names', async () => {
    const one = service();
    const made = await issued(one, { tenant: 'acme' });
    expect(await one.log.last(subjects.issued('acme' as Tenant, made.id as TokenId))).toMatchObject({ tenant: 'acme' });
    expect(await new Callers(one.log, undefined, () => NOW).identify(made.token)).toMatchObject({ tenant: 'acme' });
  });

  it('lives in the tenant of the admin who issues it, and in no other', async () => {
    const one = service();
    expect(await issued(one, {}, tenantAdmin)).toMatchObject({ tenant: 'acme' });
    expect(await issued(one, { tenant: 'acme' }, tenantAdmin)).toMatchObject({ tenant: 'acme' });
    const reply = await issue(one, asked({ ...body, tenant: 'other' }, tenantAdmin), 'bearer');
    expect(reply).toMatchObject({ ok: false, refusal: { reason: 'forbidden' } });
  });

  it('is issued by admins only', async () => {
    const reply = await issue(service(), asked(body, { ...tenantAdmin, roles: ['operator', 'approver'] }), 'bearer');
    expect(reply).toMatchObject({ ok: false, refusal: { reason: 'forbidden' } });
  });
});

describe('issuing with an Idempotency-Key', () => {
  it('again gives the same token, and one fact', async () => {
    const one = service();
    const first = await issue(one, asked(body, admin, 'k'), 'bearer');
    expect(await issue(one, asked({ ...body }, admin, 'k'), 'bearer')).toEqual(first);
    expect(await readStory(one.log, 'hp.v1.>')).toHaveLength(1);
  });

  it('twenty at once give the same token', async () => {
    const one = service();
    const replies = await Promise.all(Array.from({ length: 20 }, () => issue(one, asked(body, admin, 'k'), 'bearer')));
    expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
  });

  it.each<[string, Partial<IssueToken>]>([
    ['another name', { name: 'cli' }],
    ['another tenant', { tenant: 'acme' }],
  ])('again with %s is a conflict', async (_, other) => {
    const one = service();
    await issue(one, asked(body, admin, 'k'), 'bearer');
    const reply = await issue(one, asked({ ...body, ...other }, admin, 'k'), 'bearer');
    expect(reply).toMatchObject({ ok: false, refusal: { reason: 'conflict' } });
  });

  it('again by another token of the same name shows no secret', async () => {
    const one = service();
    await issue(one, asked(body, admin, 'k'), 'bearer');
    const reply = await issue(one, asked(body, admin, 'k'), 'another bearer');
    expect(reply).toMatchObject({ ok: false, refusal: { reason: 'conflict' } });
  });
});

describe('a token is revoked', () => {
  const revokes = (one: ReturnType<typeof service>, tokenId: string, caller = admin) =>
    revoke(one, asked({ tokenId: tokenId as TokenId }, caller));

  it('by an admin, for ever', async () => {
    const one = service();
    const made = await issued(one);
    expect(await revokes(one, made.id)).toEqual({ ok: true, value: { seq: 2, recorded: true } });
    expect(await revokes(one, made.id)).toEqual({ ok: true, value: { seq: 2, recorded: false } });
    expect(await new Callers(one.log, undefined, () => NOW).identify(made.token)).toBeUndefined();
  });

  it('for whoever knew it already within a minute', async () => {
    const one = service();
    const made = await issued(one);
    let now = NOW;
    const callers = new Callers(one.log, undefined, () => now);
    expect(await callers.identify(made.token)).toBeDefined();
    await revokes(one, made.id);
    now = NOW + 60_000;
    expect(await callers.identify(made.token)).toBeUndefined();
  });

  it('by the admin token in whatever tenant it is', async () => {
    const one = service();
    const made = await issued(one, { tenant: 'acme' });
    expect(await revokes(one, made.id)).toMatchObject({ ok: true });
    expect(await one.log.last(subjects.over('acme' as Tenant, made.id as TokenId))).toBeDefined();
  });

  it('by no admin of another tenant', async () => {
    const one = service();
    const made = await issued(one);
    expect(await revokes(one, made.id, tenantAdmin)).toMatchObject({ ok: false, refusal: { reason: 'not-found' } });
  });

  it('by nobody else', async () => {
    const one = service();
    const made = await issued(one);
    expect(await revokes(one, made.id, { ...admin, tokenId: 'tk_y' as TokenId, roles: ['approver'] })).toMatchObject({
      ok: false,
      refusal: { reason: 'forbidden' },
    });
  });

  it.each(['tk_aaaaaaaaaaaaaaaaaaaaaaaaaa', '*', '>', ''])('not where there is none: "%s"', async (tokenId) => {
    expect(await revokes(service(), tokenId)).toMatchObject({ ok: false, refusal: { reason: 'not-found' } });
  });
});
