import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import type { Instant, Tenant } from '#contracts/ids';
import type { Policy } from '#contracts/policies/policy';
import { subjects } from '#contracts/subjects';
import type { FactReader } from '#fold/read';
import { SAME } from './arbitraries-for-spec.js';
import { hashOfPolicy } from './compiled.js';
import { evolvePolicies, NO_POLICIES, policyAt, PoliciesInForce } from './in-force.js';

const OURS = 'default' as Tenant;
const THEIRS = 'other' as Tenant;
const NOON = '2026-01-01T12:00:00.000Z' as Instant;

/** Each version of each tenant is told from the others by its time to expire. */
const published = (tenant: Tenant, version: number, seq: number): Recorded<HoldpointEvent> => {
  const policy: Policy = { rules: [], default: { approvers: { count: 1 }, expiresInSeconds: version * 1_000 + seq } };
  return {
    tenant,
    seq,
    subject: subjects.policy(tenant, version),
    event: { type: 'PolicyPublished', data: { ...policy, version, hash: hashOfPolicy(policy) } },
    eventId: `e-${seq}`,
    occurredAt: NOON,
    storedAt: NOON,
    correlationId: 'c',
    causationId: 'c',
    actor: { kind: 'person', id: 'admin', via: 'token' },
  };
};

/** A log in memory that counts what is read of it. */
class Facts implements FactReader {
  readonly facts: Recorded<HoldpointEvent>[] = [];
  reads = 0;

  add(...facts: Recorded<HoldpointEvent>[]): this {
    this.facts.push(...facts);
    return this;
  }

  last(filter: string) {
    this.reads += 1;
    const [start = ''] = filter.split('*');
    const isIt = (subject: string) => (filter.endsWith('*') ? subject.startsWith(start) : subject === filter);
    return Promise.resolve(this.facts.findLast(({ subject }) => isIt(subject)));
  }

  next(): never {
    throw new Error('is not asked for');
  }
}

const three = () => new Facts().add(published(OURS, 1, 10), published(OURS, 2, 20), published(OURS, 3, 30));
const versions = (policies: PoliciesInForce, ...seqs: number[]) =>
  seqs.reduce<Promise<number[]>>(
    async (before, seq) => [...(await before), (await policies.at(OURS, seq)).version],
    Promise.resolve([]),
  );

describe('in force', () => {
  it('is none before the first', async () =>
    expect(await versions(new PoliciesInForce(three()), 1, 9, 10)).toEqual([0, 0, 0]));
  it('is a version after its place, up to that of the next', async () =>
    expect(await versions(new PoliciesInForce(three()), 11, 20, 21, 30, 31, 99)).toEqual([1, 1, 2, 2, 3, 3]));
  it('is the same whichever is asked for first', async () =>
    expect(await versions(new PoliciesInForce(three()), 99, 31, 30, 21, 20, 11, 10, 1)).toEqual([
      3, 3, 2, 2, 1, 1, 0, 0,
    ]));
  it('is none where none was published', async () =>
    expect(await versions(new PoliciesInForce(new Facts()), 5)).toEqual([0]));
  it("is not another tenant's", async () => {
    const policies = new PoliciesInForce(new Facts().add(published(THEIRS, 1, 5)));
    expect([(await policies.at(OURS, 9)).version, (await policies.at(THEIRS, 9)).version]).toEqual([0, 1]);
  });
  it('is the whole policy of that version', async () =>
    expect((await new PoliciesInForce(three()).at(OURS, 25)).default.expiresInSeconds).toBe(2_020));
});

describe('what was read once', () => {
  it('is not read again', async () => {
    const log = three();
    const policies = new PoliciesInForce(log);
    await versions(policies, 25);
    const { reads } = log;
    await versions(policies, 25, 21, 22);
    expect(log.reads).toBe(reads);
  });
  it('is not read again where it was nothing', async () => {
    const log = new Facts();
    const policies = new PoliciesInForce(log);
    await versions(policies, 25);
    await versions(policies, 25, 1);
    expect(log.reads).toBe(1);
  });
  it('does not stand for what was published since', async () => {
    const log = three();
    const policies = new PoliciesInForce(log);
    await versions(policies, 35);
    log.add(published(OURS, 4, 40), published(OURS, 5, 50));
    expect(await versions(policies, 51, 50, 41, 40, 35)).toEqual([5, 4, 4, 3, 3]);
  });
  it('that there was none does not stand for what was published since', async () => {
    const log = new Facts();
    const policies = new PoliciesInForce(log);
    await versions(policies, 5);
    log.add(published(OURS, 1, 10));
    expect(await versions(policies, 11, 5, 10)).toEqual([1, 0, 0]);
  });
  it('has no gap, though the first that is asked for is late and the next is early', async () => {
    const policies = new PoliciesInForce(three());
    expect(await versions(policies, 31, 11, 21, 30)).toEqual([3, 1, 2, 2]);
  });
  it('goes no further back than it must', async () => {
    const log = new Facts().add(...Array.from({ length: 50 }, (_, at) => published(OURS, at + 1, (at + 1) * 10)));
    await versions(new PoliciesInForce(log), 495);
    expect(log.reads).toBe(2);
  });
});

describe('a version that cannot be found', () => {
  it('is never as if there were none', async () => {
    const log = new Facts().add(published(OURS, 1, 10), published(OURS, 3, 30));
    await expect(versions(new PoliciesInForce(log), 25)).rejects.toThrow('not the one before');
  });
});

describe('from the facts in their order', () => {
  const all = three().facts.reduce(evolvePolicies, NO_POLICIES);
  it('is the same in force', () =>
    expect([1, 10, 11, 20, 21, 30, 31].map((seq) => policyAt(all, OURS, seq).version)).toEqual([0, 0, 1, 1, 2, 2, 3]));
  it('is none for another tenant', () => expect(policyAt(all, THEIRS, 99).version).toBe(0));
  it('other facts change nothing', () => {
    const [first] = three().facts;
    const other = { ...first, event: { type: 'LogOpened' } } as Recorded<HoldpointEvent>;
    expect(evolvePolicies(all, other)).toBe(all);
  });
});

describe('whatever is published and asked', () => {
  type Act = { readonly by: Tenant } & (
    { readonly is: 'publish' } | { readonly is: 'request' } | { readonly is: 'ask'; readonly of: number }
  );
  const by = fc.constantFrom(OURS, THEIRS);
  const acts = fc.array(
    fc.oneof<fc.Arbitrary<Act>[]>(
      fc.record({ is: fc.constant('publish' as const), by }),
      fc.record({ is: fc.constant('request' as const), by }),
      fc.record({ is: fc.constant('ask' as const), by, of: fc.nat(1_000) }),
    ),
    { maxLength: 40 },
  );

  /** Every answer, beside what looking through all that was published says. */
  const answers = async (story: readonly Act[], atOnce: boolean) => {
    const log = new Facts();
    const policies = new PoliciesInForce(log);
    const asked: Promise<number>[] = [];
    const expected: number[] = [];
    let seq = 0;
    for (const act of story) {
      const of = log.facts.filter(({ tenant }) => tenant === act.by);
      if (act.is === 'publish') log.add(published(act.by, of.length + 1, (seq += 1)));
      else if (act.is === 'request') seq += 1;
      else if (seq > 0) {
        const at = (act.of % seq) + 1;
        const answer = policies.at(act.by, at).then(({ default: { expiresInSeconds } }) => expiresInSeconds);
        asked.push(answer);
        if (!atOnce) await answer;
        const inForce = of.findLast((fact) => fact.seq < at)?.event;
        expected.push(inForce?.type === 'PolicyPublished' ? (inForce.data.default.expiresInSeconds ?? 0) : 86_400);
      }
    }
    return { answered: await Promise.all(asked), expected };
  };

  it.each([false, true])('every request has the version of its place (many at once: %s)', (atOnce) =>
    fc.assert(
      fc.asyncProperty(acts, async (story) => {
        const { answered, expected } = await answers(story, atOnce);
        expect(answered).toEqual(expected);
      }),
      SAME,
    ),
  );
});
