import type { Fact, Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { approvalIdOf, turnKeyOf, type ApprovalId } from '#contracts/ids';
import type { RequestedToolCall, ToolApprovalRequested } from '#contracts/turns/events';
import { MemoryLog } from '#event-log/memory-log';
import { readStory } from '#fold/read';
import { PoliciesInForce } from '#policy/in-force';
import type { LikeCall, Precedents } from '../../projections/precedents/precedents.query.js';
import { after, decided, recordedAt, requested, TENANT, type Told } from '../domain/stories-for-spec.js';
import { whenApprovalRequestedThenFollowPrecedent } from './when-approval-requested-then-follow-precedent.js';

type Type = HoldpointEvent['type'];

/** The approval of the first call of a turn. */
export const callIn = (turnId: string, conversationId = 'conv-1', index = 0): ApprovalId =>
  approvalIdOf(turnKeyOf(TENANT, conversationId, turnId), index);

export const about = (told: Told, approvalId: ApprovalId): Told =>
  told.event.type === 'ToolApprovalDecided'
    ? { ...told, event: { ...told.event, data: { ...told.event.data, approvalId } } }
    : told;

export const deniedIn = (turnId: string, reason = 'no'): Told =>
  about(decided('denied', 'ada', { reason }), callIn(turnId));

/** A log, and a read model that has of any call what it is said to have. */
export class Office {
  readonly log = new MemoryLog();
  readonly asks: LikeCall[] = [];
  found: Precedents = { grants: [] };
  /** What the read model says instead, call after call, before it says what it found. */
  readonly instead: (() => Promise<Precedents | undefined>)[] = [];
  second = 100;
  /** Right before and right after a fact of this kind is written by the rules. */
  readonly before = new Map<Type, () => Promise<unknown>>();
  readonly after = new Map<Type, () => Promise<unknown>>();

  readonly services = {
    log: Object.assign(Object.create(this.log) as MemoryLog, {
      append: async (fact: Fact<HoldpointEvent>) => {
        await this.once(this.before, fact.event.type);
        const appended = await this.log.append(fact);
        await this.once(this.after, fact.event.type);
        return appended;
      },
    }),
    clock: () => Date.parse(after(this.second)),
    policies: new PoliciesInForce(this.log),
    precedents: (like: LikeCall) => {
      this.asks.push(like);
      return this.instead.shift()?.() ?? Promise.resolve(this.found);
    },
  };

  private async once(hooks: Map<Type, () => Promise<unknown>>, type: Type): Promise<void> {
    const hook = hooks.get(type);
    hooks.delete(type);
    await hook?.();
  }

  async tell(...facts: readonly Told[]): Promise<void> {
    for (const fact of facts) await this.log.append(recordedAt(fact, 0));
  }

  async ask(
    turnId: string,
    over: Partial<ToolApprovalRequested> = {},
    call: Partial<RequestedToolCall> = {},
  ): Promise<Recorded<HoldpointEvent>> {
    const turnKey = turnKeyOf(TENANT, over.conversationId ?? 'conv-1', turnId);
    await this.tell(requested({ turnKey, turnId, ...over }, call));
    return this.last();
  }

  react = (fact: Recorded<HoldpointEvent>): Promise<void> =>
    whenApprovalRequestedThenFollowPrecedent(this.services).react(fact);

  facts = (): Promise<Recorded<HoldpointEvent>[]> => readStory(this.log, 'hp.v1.>');
  async of<Wanted extends Type>(type: Wanted): Promise<Recorded<Extract<HoldpointEvent, { type: Wanted }>>[]> {
    const facts = await this.facts();
    return facts.filter((fact) => fact.event.type === type) as Recorded<Extract<HoldpointEvent, { type: Wanted }>>[];
  }

  private async last(): Promise<Recorded<HoldpointEvent>> {
    const fact = (await this.facts()).at(-1);
    if (!fact) throw new Error('Nothing was told yet');
    return fact;
  }
}
