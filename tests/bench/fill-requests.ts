import type { Fact } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { instant, shortDigest } from '#contracts/ids';
import type { Policy, PolicyRule } from '#contracts/policies/policy';
import { subjects } from '#contracts/subjects';
import type { Log } from '#event-log/log';
import { hashOfPolicy } from '#policy/compiled';
import { stored } from './fill-lives.js';
import { factsOf, TENANT } from './story.js';

/** Turns that are asked for side by side, and then decided. */
const GROUP = 200;
const VERSIONS = 10;

export interface RecordedCalls {
  readonly requests: number;
  readonly calls: number;
  readonly versions: number;
}
type Writers = Readonly<Record<'orchestrator' | 'approval-service', Pick<Log, 'append'>>>;

/** So many requests of one tenant, each decided by a person, while its policy is published again and again. */
export async function fillRequests(writers: Writers, requests: number): Promise<RecordedCalls> {
  const aVersion = Math.ceil(requests / VERSIONS / GROUP) * GROUP;
  const filled = { requests, calls: 0, versions: 0 };
  for (let from = 0; from < requests; from += GROUP) {
    if (from % aVersion === 0) await appendAll(writers['approval-service'], [published((filled.versions += 1))]);
    const turns = Array.from({ length: Math.min(GROUP, requests - from) }, (_, index) => from + index);
    const decisions = turns.flatMap((turn) => factsOf(turn, 'decided'));
    await appendAll(
      writers.orchestrator,
      turns.flatMap((turn) => factsOf(turn, 'requested')),
    );
    await appendAll(writers['approval-service'], decisions);
    filled.calls += decisions.length;
  }
  return filled;
}

const appendAll = (log: Pick<Log, 'append'>, facts: readonly Fact<HoldpointEvent>[]): Promise<unknown> =>
  Promise.all(facts.map((fact) => stored(() => log.append(fact))));

const asking = (count: number): PolicyRule => ({
  id: `ask-${count}`,
  tools: ['send_*'],
  then: 'require',
  require: { approvers: { count } },
});

function published(version: number): Fact<HoldpointEvent> {
  const policy: Policy = { rules: [asking(1 + (version % 3))], default: { approvers: { count: 1 } } };
  const subject = subjects.policy(TENANT, version);
  return {
    tenant: TENANT,
    subject,
    event: { type: 'PolicyPublished', data: { ...policy, version, hash: hashOfPolicy(policy) } },
    eventId: `ev_${shortDigest(subject)}`,
    occurredAt: instant(Date.now()),
    correlationId: 'policy',
    causationId: 'request:bench',
    actor: { kind: 'person', id: 'olga@example.com', via: 'bench' },
  };
}
