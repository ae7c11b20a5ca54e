import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import type { PublishPolicy } from '#contracts/policies/commands';
import type { PolicyPublished } from '#contracts/policies/events';
import type { Policy } from '#contracts/policies/policy';
import { refusal, type Refusal } from '#contracts/refusals';
import { subjects } from '#contracts/subjects';
import { accept, nothingToDo, refuse, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import { policyErrors } from '#policy/check-policy';
import { hashOfPolicy } from '#policy/compiled';

export interface NewestPolicy {
  readonly newest?: PolicyPublished;
  /** Its place in the log; 0 where there is none. */
  readonly seq: number;
}

const NONE: NewestPolicy = { seq: 0 };

/** What is wrong with a policy by itself, whatever was published before. */
export function refusePolicy(policy: Policy): Refusal | undefined {
  const errors = policyErrors(policy);
  return errors.length === 0 ? undefined : refusal('invalid-input', 'The policy is not valid', { errors });
}

/** Of a valid policy the next version, whole; whoever did not see the version before it is told so. */
export function publishPolicy(command: PublishPolicy, { newest }: NewestPolicy): Answer<HoldpointEvent, Refusal> {
  const { expectedVersion, rules, default: otherwise } = command;
  const hash = hashOfPolicy(command);
  const version = newest?.version ?? 0;
  if (version === expectedVersion + 1 && newest?.hash === hash) return nothingToDo;
  if (version !== expectedVersion) return refuse(refusal('conflict', `The newest version is ${version}`));
  return accept({ type: 'PolicyPublished', data: { version: version + 1, hash, rules, default: otherwise } });
}

export const newestOf = (fact: Recorded<HoldpointEvent> | undefined): NewestPolicy =>
  fact?.event.type === 'PolicyPublished' ? { newest: fact.event.data, seq: fact.seq } : NONE;

export const publishing: Rule<PublishPolicy, NewestPolicy, object> = {
  read: async (log, tenant) => newestOf(await log.last(subjects.policies(tenant))),
  decide: publishPolicy,
  correlate: () => 'policy',
};
