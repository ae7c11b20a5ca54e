import { describe, expect, it } from '@jest/globals';
import type { EndGrant } from '#contracts/grants/commands';
import type { GrantId } from '#contracts/ids';
import { answered } from '#decider/given-when-then';
import type { Grant } from '#fold/grant';
import { after, callerOf, grant, GRANT, TENANT } from '../stories-for-spec.js';
import { endGrant, ending } from './end-grant.js';

const ended: Grant = { ...grant, end: { by: 'ada', at: after(5), seq: 2 } };
const when = (caller = callerOf('ada'), before: Grant | undefined = grant, more: Partial<EndGrant> = {}) =>
  answered(expect, endGrant({ grantId: GRANT, ...more }, { grant: before }, { caller }));

describe('a grant is ended', () => {
  it('by who gave it', () =>
    expect(when(callerOf('ADA')).answer).toEqual({
      kind: 'accept',
      event: { type: 'GrantEnded', data: { grantId: GRANT } },
    }));
  it('for the reason that they give', () =>
    when(callerOf('ada'), grant, { reason: 'enough' }).then({ data: { grantId: GRANT, reason: 'enough' } }));
  it('by an operator or an admin', () => {
    for (const role of ['operator', 'admin'] as const)
      when(callerOf('olga', { roles: [role] })).then({ type: 'GrantEnded' });
  });
  it('by no other approver', () => when(callerOf('bob')).thenRefused('forbidden'));
  it('once', () => {
    when(callerOf('ada'), ended).thenNothing();
    when(callerOf('olga', { roles: ['operator'] }), ended).thenNothing();
  });
  it('by nobody else, once it is ended either', () => when(callerOf('bob'), ended).thenRefused('forbidden'));
  it('not where there is none', () =>
    answered(expect, endGrant({ grantId: GRANT }, { grant: undefined }, { caller: callerOf('ada') })).thenRefused(
      'not-found',
    ));
});

it.each(['*', '>', '', 'gr_x', 'tk_aaaaaaaaaaaaaaaaaaaaaaaaaa'])(
  'nothing is read of what is no id: "%s"',
  async (id) => {
    const log = { last: () => Promise.reject(new Error('read')), next: () => Promise.reject(new Error('read')) };
    expect(await ending.read(log, TENANT, { grantId: id as GrantId })).toEqual({ grant: undefined });
  },
);
