import { describe, expect, it } from '@jest/globals';
import type { IssueGrant } from '#contracts/grants/commands';
import { answered } from '#decider/given-when-then';
import type { Grant } from '#fold/grant';
import { after, body, callerOf, grant, GRANT, NOON, terms } from '../stories-for-spec.js';
import { issueGrant, issueRemembered } from './issue-grant.js';

const ada = callerOf('ada', { groups: ['ops'] });
const when = (more: Partial<IssueGrant> = {}, before?: Grant) => {
  const command = { body: { ...body, ...more }, grantId: GRANT };
  return answered(expect, issueGrant(command, { grant: before }, { caller: ada, now: NOON }));
};

describe('a grant that is asked for by itself', () => {
  it('is given, with the groups that the token named', () =>
    expect(when({ expiresInSeconds: 60, maxUses: 3 }).answer).toEqual({
      kind: 'accept',
      event: {
        type: 'GrantIssued',
        data: { ...body, grantId: GRANT, expiresAt: after(60), maxUses: 3, groups: ['ops'] },
      },
    }));
  it('is for a month and a thousand uses where nothing else is said', () =>
    expect(when().answer).toMatchObject({
      event: { data: { expiresAt: after(30 * 86_400), maxUses: 1_000 } },
    }));
  it('has a condition that can be asked', () => {
    when({ scope: { tool: 'pay', when: 'args.amount < 5.0' } }).then({ type: 'GrantIssued' });
    when({ scope: { tool: 'pay', when: 'args.to +' } }).thenRefused('invalid-input', {
      errors: [{ path: 'scope.when', message: expect.any(String) }],
    });
  });
  it('takes nobody else’s name', () => void when({}, grant).thenRefused('conflict'));
});

describe('a grant that a decision carries', () => {
  it('is given as it says', () =>
    expect(issueRemembered(terms, { grant: undefined })).toEqual({
      kind: 'accept',
      event: { type: 'GrantIssued', data: terms },
    }));
  it('is given once', () => answered(expect, issueRemembered(terms, { grant })).thenNothing());
});
