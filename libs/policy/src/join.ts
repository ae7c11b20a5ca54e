import { canonicalJson } from '#contracts/canonical';
import { MOST_STAGES, type EscalationStage, type Quorum, type Requirement } from '#contracts/policies/policy';
import { countWays, MOST_WAYS } from './quorum.js';

const DAY = 86_400;

/** A requirement with nothing left open. */
export interface FullRequirement extends Requirement {
  readonly expiresInSeconds: number;
  readonly onExpiry: 'deny' | 'approve';
  readonly useWithinSeconds: number;
}

export const completed = (requirement: Requirement): FullRequirement => ({
  ...requirement,
  expiresInSeconds: requirement.expiresInSeconds ?? DAY,
  onExpiry: requirement.onExpiry ?? 'deny',
  useWithinSeconds: requirement.useWithinSeconds ?? DAY,
});

/** All of them together, the stricter of each: what several rules require of one call. */
export function joined(requirements: readonly [FullRequirement, ...FullRequirement[]]): FullRequirement {
  const [first, ...more] = different(requirements);
  if (!first || more.length === 0) return requirements[0];
  const all = [first, ...more];
  const approves = all.every(({ onExpiry }) => onExpiry === 'approve');
  const held = Math.max(...all.map(({ holdSeconds }) => holdSeconds ?? 0));
  const stages = escalationOf(all);
  return {
    approvers: together(all.map(({ approvers }) => approvers)),
    // Where time approves, the longer time is the stricter.
    expiresInSeconds: (approves ? Math.max : Math.min)(...all.map(({ expiresInSeconds }) => expiresInSeconds)),
    onExpiry: approves ? 'approve' : 'deny',
    useWithinSeconds: Math.min(...all.map(({ useWithinSeconds }) => useWithinSeconds)),
    ...(held > 0 ? { holdSeconds: held } : {}),
    ...(stages.length > 0 ? { escalate: stages } : {}),
    ...(all.some(({ askAgainAfterDenial }) => askAgainAfterDenial === true) ? { askAgainAfterDenial: true } : {}),
  };
}

const different = <One>(all: readonly One[]): readonly One[] => [
  ...new Map(all.map((one) => [canonicalJson(one), one])).values(),
];

/**
 * The same people asked for twice are asked for once, for the larger number; all others fill places of their own. Where
 * that could be met in too many ways to look through, they are asked one after the other, which is stricter.
 */
export function together(quorums: readonly Quorum[]): Quorum {
  const denyCount = Math.min(...quorums.map((quorum) => quorum.denyCount ?? 1));
  const deny = denyCount > 1 ? { denyCount } : {};
  const parts = different(quorums.map(withoutDeny));
  const ways = parts.reduce((product, part) => product * countWays(part), 1);
  if (!parts.some(({ inOrder }) => inOrder) && ways <= MOST_WAYS) return { ...allOf(parts), ...deny };
  return { inOrder: parts.flatMap((part) => part.inOrder ?? [part]), ...deny };
}

function allOf(quorums: readonly Quorum[]): Quorum {
  const parts = new Map<string, Quorum>();
  for (const quorum of quorums) {
    const { count, ...people } = quorum;
    const key = canonicalJson(people);
    const most = Math.max(count ?? 1, parts.get(key)?.count ?? 1);
    parts.set(key, isLeaf(quorum) ? { ...people, count: most } : quorum);
  }
  const [only, ...more] = [...parts.values()];
  return only && more.length === 0 ? only : { all: [...parts.values()] };
}

const isLeaf = ({ all, any, inOrder }: Quorum): boolean => !all && !any && !inOrder;

function withoutDeny({ denyCount: _, ...quorum }: Quorum): Quorum {
  return quorum;
}

/** A stage of one requirement stands in for that one's approvers alone: what the others require stays required. */
function escalationOf(all: readonly FullRequirement[]): EscalationStage[] {
  return all
    .flatMap(({ escalate = [] }, of) => escalate.map((stage) => ({ ...stage, of })))
    .sort((a, b) => a.afterSeconds - b.afterSeconds)
    .slice(0, MOST_STAGES)
    .map(({ afterSeconds, approvers, of }) => ({
      afterSeconds,
      approvers: together(all.map((one, index) => (index === of ? approvers : one.approvers))),
    }));
}
