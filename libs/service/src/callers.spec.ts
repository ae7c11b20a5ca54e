import { describe, expect, it } from '@jest/globals';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { instant, type Tenant, type TokenId } from '#contracts/ids';
import { subjects } from '#contracts/subjects';
import { Callers, sha256 } from './callers.js';

const tokenId = `tk_${'a'.repeat(26)}` as TokenId;
const secret = 's'.repeat(32);
const token = `hp_${tokenId}_${secret}`;
const tenant = 'default' as Tenant;

const fact = (subject: string, event: HoldpointEvent): Recorded<HoldpointEvent> => ({
  tenant,
  subject,
  event,
  eventId: subject,
  occurredAt: instant(0),
  storedAt: instant(0),
  correlationId: tokenId,
  causationId: 'test',
  actor: { kind: 'person', id: 'admin', via: 'test' },
  seq: 1,
});
const issued = fact(subjects.issued(tenant, tokenId), {
  type: 'TokenIssued',
  data: { tokenId, name: 'n', subject: 'ada', roles: ['agent'], secretHash: sha256(secret) },
});
const over = fact(subjects.over(tenant, tokenId), { type: 'TokenRevoked', data: { tokenId } });

/** A log with the token; `revoke` adds the end of it, `asked` counts who looks for that. */
function logOf() {
  let revoked = false;
  const log = {
    asked: 0,
    onAsked: () => undefined as void,
    revoke: () => void (revoked = true),
    last: (subject: string) => {
      if (subject !== over.subject) return Promise.resolve(issued);
      log.asked += 1;
      const seen = revoked ? over : undefined;
      log.onAsked();
      return Promise.resolve(seen);
    },
    next: () => Promise.resolve(undefined),
  };
  return log;
}

describe('a token', () => {
  it('is kept, and read again once it is heard that it was revoked', async () => {
    const log = logOf();
    const callers = new Callers(log, undefined);
    for (const _ of [1, 2]) expect(await callers.identify(token)).toMatchObject({ subject: 'ada' });
    expect(log.asked).toBe(1);
    log.revoke();
    callers.forget(tokenId);
    expect(await callers.identify(token)).toBeUndefined();
  });

  it('that is revoked while it is read is not kept as it was', async () => {
    const log = logOf();
    const callers = new Callers(log, undefined);
    log.onAsked = () => {
      log.revoke();
      callers.forget(tokenId);
    };
    await callers.identify(token);
    expect(await callers.identify(token)).toBeUndefined();
  });
});
