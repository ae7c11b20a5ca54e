import type { Policy, PolicyRule, Quorum, Requirement } from '#contracts/policies/policy';
import { compileCondition } from './condition.js';
import { ConditionFailed } from './condition-input.js';
import { completed } from './join.js';
import { couldBeMet, countWays, MOST_PLACES, MOST_WAYS, peopleNamed, waysOf } from './quorum.js';

export interface PolicyError {
  readonly path: string;
  readonly message: string;
}

/** Bytes of all conditions together: every process that judges requests compiles them when it starts. */
const LONGEST_CONDITIONS = 32_768;

/** What the classes cannot say of a policy: rules that contradict themselves, do not compile, or could never be met. */
export function policyErrors(policy: Policy): readonly PolicyError[] {
  return [
    ...requirementErrors('default', policy.default),
    ...policy.rules.flatMap((rule, at) => ruleErrors(rule, `rules[${at}]`, policy.rules.slice(0, at))),
    ...tooLong(policy),
  ];
}

function tooLong({ rules }: Policy): PolicyError[] {
  const bytes = rules.reduce((sum, { when = '' }) => sum + Buffer.byteLength(when), 0);
  if (bytes <= LONGEST_CONDITIONS) return [];
  return [{ path: 'rules', message: `all conditions together are longer than ${LONGEST_CONDITIONS} bytes` }];
}

function ruleErrors(rule: PolicyRule, path: string, earlier: readonly PolicyRule[]): PolicyError[] {
  const { id, then, require, when } = rule;
  const wrong = (field: string, message: string): PolicyError => ({ path: `${path}.${field}`, message });
  return [
    ...(earlier.some((one) => one.id === id) ? [wrong('id', `"${id}" is another rule's id`)] : []),
    ...(then === 'require' && !require ? [wrong('require', 'must be there with "require"')] : []),
    ...(then !== 'require' && require ? [wrong('require', 'goes with "require" only')] : []),
    ...(require ? requirementErrors(`${path}.require`, require) : []),
    ...(when === undefined ? [] : conditionErrors(when).map((message) => wrong('when', message))),
  ];
}

function conditionErrors(when: string): string[] {
  try {
    compileCondition(when);
    return [];
  } catch (error) {
    if (error instanceof ConditionFailed) return [error.message];
    throw error;
  }
}

function requirementErrors(path: string, requirement: Requirement): PolicyError[] {
  const { approvers, escalate = [] } = requirement;
  const errors = [
    ...quorumErrors(`${path}.approvers`, approvers, 'approvers'),
    ...escalate.flatMap((stage, at) => quorumErrors(`${path}.escalate[${at}].approvers`, stage.approvers, 'stage')),
    ...stageErrors(path, requirement),
  ];
  return errors.length > 0 ? errors : denialErrors(path, requirement);
}

/** What comes when it is over, or in another order than it is written, would never be reached as it is meant. */
function stageErrors(path: string, requirement: Requirement): PolicyError[] {
  const { expiresInSeconds, escalate = [] } = completed(requirement);
  return escalate.flatMap(({ afterSeconds }, at) => {
    const wrong = (message: string) => [{ path: `${path}.escalate[${at}].afterSeconds`, message }];
    if (afterSeconds >= expiresInSeconds)
      return wrong(`must be less than expiresInSeconds, which is ${expiresInSeconds}`);
    const before = escalate[at - 1]?.afterSeconds ?? 0;
    return afterSeconds < before ? wrong(`must not be less than the ${before} of the stage before it`) : [];
  });
}

/** As far as names alone can say. */
function denialErrors(path: string, { approvers, escalate = [] }: Requirement): PolicyError[] {
  const people = peopleNamed([approvers, ...escalate.map((stage) => stage.approvers)]);
  if (people === undefined || (approvers.denyCount ?? 1) <= people) return [];
  return [{ path: `${path}.approvers.denyCount`, message: `must not be more than the ${people} people who are asked` }];
}

/** Where a quorum stands: asked first, asked later, or a part of another. */
type Standing = 'approvers' | 'stage' | 'part';

function quorumErrors(path: string, quorum: Quorum, as: Standing): PolicyError[] {
  const shape = shapeErrors(path, quorum, as);
  if (shape.length > 0) return shape;
  const stages = quorum.inOrder ?? [quorum];
  const wrong = (message: string): PolicyError[] => [{ path, message }];
  if (stages.some((stage) => countWays(stage) > MOST_WAYS)) return wrong(`can be met in more than ${MOST_WAYS} ways`);
  const places = stages.map((stage) => Math.max(...waysOf(stage).map((way) => way.length)));
  if (places.reduce((sum, one) => sum + one, 0) > MOST_PLACES) return wrong(`asks for more than ${MOST_PLACES} people`);
  if (!couldBeMet(quorum)) return wrong('can never be met: it asks for more people than it names');
  return [];
}

function shapeErrors(path: string, quorum: Quorum, as: Standing): PolicyError[] {
  const wrong = (message: string): PolicyError[] => [{ path, message }];
  const combined = (['all', 'any', 'inOrder'] as const).filter((form) => quorum[form] !== undefined);
  const isCount = quorum.count !== undefined || quorum.groups !== undefined || quorum.subjects !== undefined;
  if (combined.length + (isCount ? 1 : 0) !== 1)
    return wrong('must have either "count" or one of "all", "any", "inOrder"');
  if (isCount && quorum.count === undefined) return wrong('must have a "count"');
  if (as === 'part' && quorum.inOrder) return wrong('"inOrder" stands at the top only');
  if (as !== 'approvers' && quorum.denyCount !== undefined)
    return wrong('"denyCount" stands at the top of who is asked first only');
  return combined.flatMap((form) =>
    (quorum[form] ?? []).flatMap((part, at) => shapeErrors(`${path}.${form}[${at}]`, part, 'part')),
  );
}
