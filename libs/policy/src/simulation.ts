import type { ToolApprovalDecided } from '#contracts/approvals/events';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { approvalIdOf, type ApprovalId } from '#contracts/ids';
import type { Effect } from '#contracts/policies/policy';
import type { RequestedToolCall, ToolApprovalRequested } from '#contracts/turns/events';
import type { CompiledPolicy } from './compiled.js';
import { policyAt, type Policies } from './in-force.js';
import { ruleOn, type Ruling } from './ruling.js';

/** What one policy says of a call: the requirement's digest tells whether it is the same. */
export interface Said {
  readonly effect: Effect;
  readonly rules: readonly string[];
  readonly hash: string;
}

export type SimulationLine =
  | {
      readonly type: 'call';
      readonly approvalId: ApprovalId;
      readonly seq: number;
      readonly toolName: string;
      readonly agent: string;
      readonly before: Said;
      readonly after: Said;
      readonly failures: number;
    }
  /** A person denied it, and the draft would approve it. */
  | { readonly type: 'regret'; readonly approvalId: ApprovalId; readonly seq: number; readonly by: string };

export interface Sums {
  readonly calls: number;
  readonly changed: number;
  /** A person was needed, and would not be. */
  readonly askedFewer: number;
  /** Nobody was asked, and somebody would be. */
  readonly askedMore: number;
  readonly failures: number;
  readonly regret: number;
}

/** Fed with the facts of one tenant in the order of the log: what a draft would have said of each call, against what was said. */
export class Simulation {
  private readonly counts = { calls: 0, changed: 0, askedFewer: 0, askedMore: 0, failures: 0, regret: 0 };
  /** The draft would approve these, and nobody has decided them yet. */
  private readonly wouldApprove = new Set<ApprovalId>();

  constructor(private readonly draft: CompiledPolicy) {}

  get sums(): Sums {
    return { ...this.counts };
  }

  /** A request, and the policies before it. */
  requested(fact: Recorded, request: ToolApprovalRequested, policies: Policies): readonly SimulationLine[] {
    const policy = policyAt(policies, fact.tenant, fact.seq);
    return request.toolCalls.map((call, index) => {
      const [before, after] = [ruleOn(policy, request, call), ruleOn(this.draft, request, call)];
      const approvalId = approvalIdOf(request.turnKey, index);
      this.count(approvalId, before, after);
      return lineOf({ approvalId, seq: fact.seq, request, call }, before, after);
    });
  }

  decided(
    { actor, seq }: Recorded<HoldpointEvent>,
    { approvalId, decision }: ToolApprovalDecided,
  ): readonly SimulationLine[] {
    const isRegretted = this.wouldApprove.delete(approvalId) && decision === 'denied' && actor.kind === 'person';
    if (!isRegretted) return [];
    this.counts.regret += 1;
    return [{ type: 'regret', approvalId, seq, by: actor.id }];
  }

  private count(approvalId: ApprovalId, before: Ruling, after: Ruling): void {
    this.counts.calls += 1;
    if (before.applied.hash !== after.applied.hash) this.counts.changed += 1;
    if (before.effect === 'require' && after.effect !== 'require') this.counts.askedFewer += 1;
    if (before.effect !== 'require' && after.effect === 'require') this.counts.askedMore += 1;
    if (after.failures.length > 0) this.counts.failures += 1;
    if (after.effect === 'approve') this.wouldApprove.add(approvalId);
  }
}

interface About {
  readonly approvalId: ApprovalId;
  readonly seq: number;
  readonly request: ToolApprovalRequested;
  readonly call: RequestedToolCall;
}

const lineOf = ({ approvalId, seq, request, call }: About, before: Ruling, after: Ruling): SimulationLine => ({
  type: 'call',
  approvalId,
  seq,
  toolName: call.toolName,
  agent: request.agent.id,
  before: saidBy(before),
  after: saidBy(after),
  failures: after.failures.length,
});

const saidBy = ({ effect, rules, applied }: Ruling): Said => ({ effect, rules, hash: applied.hash });
