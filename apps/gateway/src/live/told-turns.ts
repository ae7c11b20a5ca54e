import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import {
  approvalIdOf,
  indexOfApproval,
  isApprovalId,
  isTurnKey,
  turnKeyOfApproval,
  type Tenant,
  type TurnKey,
} from '#contracts/ids';
import { placeOf, subjects } from '#contracts/subjects';
import type { ToolApprovalRequested } from '#contracts/turns/events';
import { Unavailable } from '#decider/unavailable';
import type { FactReader } from '#fold/read';
import type { ToldTurn } from './conversation-messages.js';

const KEPT_MAX = 5_000;

type Kept = Omit<ToldTurn, 'decidedAt'> & { readonly decidedAt: (number | undefined)[] };

/** What the streams of this process need of turns, read once and kept small. */
export class ToldTurns {
  private readonly kept = new Map<TurnKey, Promise<Kept>>();

  constructor(private readonly log: FactReader) {}

  /** The turn that a fact belongs to, with every decision up to that fact; nothing for facts that belong to none. */
  async of({ event, seq, subject, tenant }: Recorded<HoldpointEvent>): Promise<ToldTurn | undefined> {
    if (event.type === 'ToolApprovalRequested') return toldOf(event.data);
    const { id } = placeOf(subject);
    const turnKey = isApprovalId(id) ? turnKeyOfApproval(id) : id;
    if (!isTurnKey(turnKey)) return undefined;
    const turn = await this.load(tenant, turnKey);
    if (event.type === 'ToolApprovalDecided') turn.decidedAt[indexOfApproval(event.data.approvalId)] = seq;
    return turn;
  }

  private load(tenant: Tenant, turnKey: TurnKey): Promise<Kept> {
    const known = this.kept.get(turnKey);
    const turn = known ?? this.read(tenant, turnKey);
    this.kept.delete(turnKey);
    const [oldest] = this.kept.keys();
    if (this.kept.size >= KEPT_MAX && oldest !== undefined) this.kept.delete(oldest);
    this.kept.set(turnKey, turn);
    if (!known) void turn.catch(() => this.kept.delete(turnKey));
    return turn;
  }

  private async read(tenant: Tenant, turnKey: TurnKey): Promise<Kept> {
    const requested = await this.log.last(subjects.request(tenant, turnKey));
    if (requested?.event.type !== 'ToolApprovalRequested')
      throw new Unavailable(`The log does not show ${turnKey} now`);
    const ids = requested.event.data.toolCalls.map((_, index) => approvalIdOf(turnKey, index));
    const decisions = await Promise.all(ids.map((id) => this.log.last(subjects.decision(tenant, id))));
    return { ...toldOf(requested.event.data), decidedAt: decisions.map((fact) => fact?.seq) };
  }
}

const toldOf = ({ turnId, agent, pool, toolCalls }: ToolApprovalRequested): Kept => ({
  turnId,
  agentId: agent.id,
  pool,
  calls: toolCalls.map(({ toolCallId, toolName }) => ({ toolCallId, toolName })),
  decidedAt: toolCalls.map(() => undefined),
});
