import { describe, expect, it } from '@jest/globals';
import type { Tenant } from '#contracts/ids';
import type { PublishPolicy } from '#contracts/policies/commands';
import { Unavailable } from '#decider/unavailable';
import { MemoryLog } from '#event-log/memory-log';
import { publish } from './handlers.js';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const DRAFT: PublishPolicy = {
  expectedVersion: 0,
  rules: [{ id: 'mail', tools: ['send_*'], then: 'approve' }],
  default: { approvers: { count: 1 } },
};
const INVALID: PublishPolicy = { ...DRAFT, rules: DRAFT.rules.map((rule) => ({ ...rule, when: 'args.' })) };

const actor = { kind: 'person', id: 'olga', via: 'test' } as const;
const asked = (command: PublishPolicy) => ({
  ...{ command, actor, context: {}, tenant: 'default' as Tenant, causationId: 'request:test' },
});
/** The log is there, the read model is not. */
const withoutPostgres = () => ({
  ...{ log: new MemoryLog(), clock: () => NOW },
  denials: () => Promise.reject(new Error('connect ECONNREFUSED')),
});

describe('publishing a policy that approves, while Postgres is away', () => {
  it('is refused where it is not valid: nobody is asked what was denied', async () =>
    expect(await publish(withoutPostgres(), asked(INVALID))).toMatchObject({
      ok: false,
      refusal: { reason: 'invalid-input', errors: [{ path: 'rules[0].when' }] },
    }));

  it('cannot be told from one that would be regretted', () =>
    expect(publish(withoutPostgres(), asked(DRAFT))).rejects.toThrow(Unavailable));

  it('is done where it is acknowledged that it may be regretted', async () => {
    const published = await publish(withoutPostgres(), asked({ ...DRAFT, acknowledgeRegret: true }));
    expect(published).toMatchObject({ ok: true, value: { version: 1, seq: 1 } });
  });
});
