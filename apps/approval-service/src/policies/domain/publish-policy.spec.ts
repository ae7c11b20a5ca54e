import { describe, expect, it } from '@jest/globals';
import type { PublishPolicy } from '#contracts/policies/commands';
import type { PolicyRule } from '#contracts/policies/policy';
import { hashOfPolicy } from '#policy/compiled';
import { publishPolicy, refusePolicy } from './publish-policy.js';

const ONE = { approvers: { count: 1 } };
const policy = (expectedVersion: number, rules: PolicyRule[] = []): PublishPolicy => ({
  expectedVersion,
  rules,
  default: ONE,
});
const rule: PolicyRule = { id: 'r', tools: ['*'], then: 'deny' };
const version = (n: number, rules: PolicyRule[] = []) => ({
  newest: { version: n, hash: hashOfPolicy(policy(0, rules)), rules, default: ONE },
  seq: 7,
});
const NONE = { seq: 0 };

describe('a policy', () => {
  it('is published as the next version, with the hash of what it says', () => {
    const hash = hashOfPolicy(policy(0, [rule]));
    const data = { rules: [rule], default: ONE, hash };
    expect(publishPolicy(policy(0, [rule]), NONE)).toMatchObject({ event: { data: { version: 1, ...data } } });
    expect(publishPolicy(policy(4, [rule]), version(4))).toMatchObject({ event: { data: { version: 5, ...data } } });
  });
  it.each([0, 1, 3, 9])('is refused when whoever wrote it saw version %d of 2', (expected) =>
    expect(publishPolicy(policy(expected, [rule]), version(2))).toMatchObject({ refusal: { reason: 'conflict' } }),
  );
  it('is published once, sent twice', () =>
    expect(publishPolicy(policy(1, [rule]), version(2, [rule]))).toMatchObject({ kind: 'nothing-to-do' }));
  it('that is not valid is refused with the place, whatever the newest version is', () =>
    expect(refusePolicy(policy(9, [{ ...rule, when: 'args.' }]))).toMatchObject({
      ...{ reason: 'invalid-input', errors: [{ path: 'rules[0].when' }] },
    }));
  it('that is valid is not', () => expect(refusePolicy(policy(9, [rule]))).toBeUndefined());
});
