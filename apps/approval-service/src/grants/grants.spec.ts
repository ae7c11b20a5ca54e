import { describe, expect, it } from '@jest/globals';
import type { EndGrant, IssueGrant } from '#contracts/grants/commands';
import { isGrantId, type GrantId } from '#contracts/ids';
import { subjects } from '#contracts/subjects';
import { MemoryLog } from '#event-log/memory-log';
import { readGrant } from '#fold/grant';
import { readStory } from '#fold/read';
import { end, issue } from './handlers.js';
import { after, body, callerOf, GRANT, NOON, TENANT } from './stories-for-spec.js';

const service = (now = NOON) => ({ log: new MemoryLog(), clock: () => Date.parse(now) });

function asked<Command>(command: Command, subject = 'ada', idempotencyKey?: string) {
  const caller = callerOf(subject);
  const actor = { kind: 'person', id: subject, via: `token:${caller.tokenId}` } as const;
  const key = idempotencyKey === undefined ? {} : { idempotencyKey };
  return { command, context: { caller }, tenant: TENANT, actor, causationId: 'request:test', ...key };
}
type Service = ReturnType<typeof service>;

async function issued(one: Service, more: Partial<IssueGrant> = {}, ...who: readonly string[]) {
  const reply = await issue(one, asked({ ...body, ...more }, ...who));
  if (!reply.ok) throw new Error(reply.refusal.reason);
  return reply.value;
}
const ends = (one: Service, grantId: GrantId, subject = 'ada') =>
  end(one, asked<EndGrant>({ grantId, reason: 'enough' }, subject));

describe('a grant is issued', () => {
  it('and can be read at once, as it was told', async () => {
    const one = service();
    const made = await issued(one, { expiresInSeconds: 60, maxUses: 3 });
    expect(made).toEqual({
      grantId: made.grantId,
      expiresAt: after(60),
      maxUses: 3,
      schemaDigest: body.schemaDigest,
      seq: 1,
    });
    expect(isGrantId(made.grantId)).toBe(true);
    expect(await readGrant(one.log, TENANT, made.grantId)).toMatchObject({ by: 'ada', used: 0, scope: body.scope });
  });
  it('anew each time without an Idempotency-Key', async () => {
    const one = service();
    expect((await issued(one)).grantId).not.toBe((await issued(one)).grantId);
  });
  it('not with a condition that cannot be asked', async () =>
    expect(await issue(service(), asked({ ...body, scope: { tool: 'pay', when: 'args +' } }))).toMatchObject({
      ok: false,
      refusal: { reason: 'invalid-input' },
    }));
});

describe('issuing with an Idempotency-Key', () => {
  it('again gives the same grant, and one fact, at any later time', async () => {
    const one = service();
    const first = await issued(one, {}, 'ada', 'k');
    expect(await issued({ ...one, clock: () => Date.parse(after(900)) }, {}, 'ada', 'k')).toEqual(first);
    expect(await readStory(one.log, 'hp.v1.>')).toHaveLength(1);
  });
  it('again gives the same grant once it is ended', async () => {
    const one = service();
    const first = await issued(one, {}, 'ada', 'k');
    await ends(one, first.grantId);
    expect(await issued(one, {}, 'ada', 'k')).toEqual(first);
  });
  it('twenty at once give the same grant', async () => {
    const one = service();
    const made = await Promise.all(Array.from({ length: 20 }, () => issued(one, {}, 'ada', 'k')));
    expect(new Set(made.map((reply) => JSON.stringify(reply))).size).toBe(1);
    expect(await readStory(one.log, 'hp.v1.>')).toHaveLength(1);
  });
  it.each<[string, Partial<IssueGrant>]>([
    ['scope', { scope: { tool: 'mail' } }],
    ['number of uses', { maxUses: 7 }],
  ])('again with another %s is a conflict', async (_, other) => {
    const one = service();
    await issued(one, {}, 'ada', 'k');
    expect(await issue(one, asked({ ...body, ...other }, 'ada', 'k'))).toMatchObject({
      ok: false,
      refusal: { reason: 'conflict' },
    });
    expect(await readStory(one.log, 'hp.v1.>')).toHaveLength(1);
  });
  it('of somebody else gives another grant', async () => {
    const one = service();
    expect((await issued(one, {}, 'ada', 'k')).grantId).not.toBe((await issued(one, {}, 'bob', 'k')).grantId);
  });
});

describe('a grant is ended', () => {
  it('once, by who gave it', async () => {
    const one = service();
    const { grantId } = await issued(one);
    expect(await ends(one, grantId)).toEqual({ ok: true, value: { seq: 2, recorded: true } });
    expect(await ends(one, grantId)).toEqual({ ok: true, value: { seq: 2, recorded: false } });
    expect(await one.log.last(subjects.over(TENANT, grantId))).toMatchObject({ event: { data: { reason: 'enough' } } });
  });
  it('by nobody else', async () => {
    const one = service();
    const { grantId } = await issued(one);
    expect(await ends(one, grantId, 'bob')).toMatchObject({ ok: false, refusal: { reason: 'forbidden' } });
    expect(await one.log.last(subjects.over(TENANT, grantId))).toBeUndefined();
  });
  it('not where there is none', async () =>
    expect(await ends(service(), GRANT)).toMatchObject({ ok: false, refusal: { reason: 'not-found' } }));
});
