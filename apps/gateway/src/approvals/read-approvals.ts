import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { indexOfApproval, type ApprovalId } from '#contracts/ids';
import type { Caller } from '#contracts/roles';
import { subjects } from '#contracts/subjects';
import { evolveApproval, NEW_APPROVAL, type Approval } from '#fold/approval';
import { readStory } from '#fold/read';
import type { KnownTurn } from '#fold/turn';
import type { PoliciesInForce } from '#policy/in-force';
import { maySeeArguments, withoutArguments } from '../auth/visibility.js';
import type { ReadTurns } from '../turns/read-turns.js';
import { approvalView, historyEntry, type ApprovalView, type HistoryEntry } from './approval-view.js';

/** Approvals as the log has them now, for those who may see them. */
export class ReadApprovals {
  constructor(
    private readonly turns: ReadTurns,
    private readonly policies: PoliciesInForce,
  ) {}

  /** What a write has left, or what has become of it since; without how it came to be. */
  async after(caller: Caller, id: ApprovalId, seq: number): Promise<ApprovalView> {
    const { turn, approvals } = await this.turns.after(caller, id, seq);
    const view = await this.view(caller, id, turn, approvals[indexOfApproval(id)] ?? NEW_APPROVAL);
    return maySeeArguments(caller, turn) ? view : withoutArguments(view);
  }

  /** With every fact: its own story, and the request and the end of its turn. */
  async whole(caller: Caller, id: ApprovalId): Promise<ApprovalView & { readonly history: readonly HistoryEntry[] }> {
    const { turn } = await this.turns.callOf(caller, id);
    const { log } = this.turns;
    const { turnKey } = turn.request;
    const [story, ...ofTurn] = await Promise.all([
      readStory(log, subjects.story(caller.tenant, id)),
      log.last(subjects.request(caller.tenant, turnKey)),
      log.last(subjects.end(caller.tenant, turnKey)),
    ]);
    const view = await this.view(caller, id, turn, story.reduce(evolveApproval, NEW_APPROVAL));
    const answer = { ...view, history: inOrder([...story, ...ofTurn]).map(historyEntry) };
    return maySeeArguments(caller, turn) ? answer : withoutArguments(answer);
  }

  private async view({ tenant }: Caller, id: ApprovalId, turn: KnownTurn, approval: Approval): Promise<ApprovalView> {
    const policy = await this.policies.at(tenant, turn.requestSeq);
    return approvalView(id, { turn, approval, policy }, this.turns.now());
  }
}

const inOrder = (facts: readonly (Recorded<HoldpointEvent> | undefined)[]): Recorded<HoldpointEvent>[] =>
  facts.filter((fact) => fact !== undefined).sort((a, b) => a.seq - b.seq);
