import { Unavailable } from '#decider/unavailable';
import { LRUCache } from 'lru-cache';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import type { Tenant } from '#contracts/ids';
import type { PolicyPublished } from '#contracts/policies/events';
import { subjects } from '#contracts/subjects';
import type { FactReader } from '#fold/read';
import { BEFORE_ANY_POLICY, compilePolicy, type CompiledPolicy } from './compiled.js';

/** A version and its place in the log: it is in force for every request after it, until the next. */
export interface InForce {
  readonly seq: number;
  readonly policy: CompiledPolicy;
}

/** The versions of each tenant's policy, the oldest first; those of one that is not here are not known. */
export type Policies = ReadonlyMap<Tenant, readonly InForce[]>;

export const NO_POLICIES: Policies = new Map();

export function evolvePolicies(policies: Policies, { event, tenant, seq }: Recorded<HoldpointEvent>): Policies {
  if (event.type !== 'PolicyPublished') return policies;
  const version = { seq, policy: compiledOnce(event.data) };
  return new Map(policies).set(tenant, [...(policies.get(tenant) ?? []), version]);
}

/** The policy that a request of this place in the log is judged by. */
export const policyAt = (policies: Policies, tenant: Tenant, seq: number): CompiledPolicy =>
  versionBefore(policies.get(tenant) ?? [], seq)?.policy ?? BEFORE_ANY_POLICY;

const versionBefore = (versions: readonly InForce[], seq: number): InForce | undefined =>
  versions.findLast((version) => version.seq < seq);

/** Versions never change: each is compiled once a process. */
const compiled = new LRUCache<string, CompiledPolicy>({ max: 1_000 });

function compiledOnce(published: PolicyPublished): CompiledPolicy {
  const key = `${published.version}/${published.hash}`;
  const known = compiled.get(key);
  if (known) return known;
  const policy = compilePolicy(published.version, published);
  compiled.set(key, policy);
  return policy;
}

interface Known {
  /** From some version on to the last one before `until`. */
  readonly versions: readonly InForce[];
  /** The place in the log up to which no other version can be. */
  readonly until: number;
}

const MOST_TENANTS = 10_000;

/** Which policy is in force, from the log. What was read once is kept: versions never change, and none is added in the past. */
export class PoliciesInForce {
  private readonly known = new LRUCache<Tenant, Known>({ max: MOST_TENANTS });

  constructor(private readonly log: FactReader) {}

  /** Of a fact that is in the log already: whatever was published before it can be read now. */
  async at(tenant: Tenant, seq: number): Promise<CompiledPolicy> {
    const known = this.known.get(tenant);
    const found = known && seq <= known.until ? versionBefore(known.versions, seq) : undefined;
    if (found) return found.policy;
    if (known && seq <= known.until && isWhole(known)) return BEFORE_ANY_POLICY;
    const versions = await this.read(tenant, seq, known?.versions ?? []);
    const until = Math.max(seq, known?.until ?? 0);
    this.known.set(tenant, { versions, until });
    return versionBefore(versions, seq)?.policy ?? BEFORE_ANY_POLICY;
  }

  /** From the newest back to the one in force at that place, or on to those that are known; without a gap between them. */
  private async read(tenant: Tenant, seq: number, known: readonly InForce[]): Promise<readonly InForce[]> {
    const older = known[0] && known[0].seq < seq ? known : [];
    const newest = older.at(-1)?.policy.version ?? 0;
    const versions: InForce[] = [];
    let fact = await this.log.last(subjects.policies(tenant));
    for (; fact?.event.type === 'PolicyPublished'; fact = await this.before(tenant, fact.event.data.version)) {
      if (fact.event.data.version <= newest) return [...older, ...versions];
      versions.unshift({ seq: fact.seq, policy: compiledOnce(fact.event.data) });
      if (fact.seq < seq) break;
    }
    return versions.length === 0 ? older : versions;
  }

  /** Each but the first follows another: one that cannot be found is an outage, and never as if there were none. */
  private async before(tenant: Tenant, version: number): Promise<Recorded<HoldpointEvent> | undefined> {
    if (version === 1) return undefined;
    const fact = await this.log.last(subjects.policy(tenant, version - 1));
    if (!fact)
      throw new Unavailable(`The log has version ${version} of the policy of ${tenant}, and not the one before it`);
    return fact;
  }
}

const isWhole = ({ versions: [first] }: Known): boolean => first === undefined || first.policy.version === 1;
