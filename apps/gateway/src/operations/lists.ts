import type { ApprovalId } from '#contracts/ids';
import type { ApprovalsQuery, ListQuery, StreamQuery, TurnsQuery } from '#contracts/queries';
import { hasRole, type Caller } from '#contracts/roles';
import { withoutArguments } from '../auth/visibility.js';
import type { ApprovalItem } from '../lists/approval-item.js';
import { listApprovals } from '../lists/approvals.query.js';
import type { Page } from '../lists/page.js';
import { listGrants, type GrantItem } from '../lists/grants.query.js';
import { listParked, type ParkedItem } from '../lists/parked.query.js';
import { listPolicies, type PolicyItem } from '../lists/policies.query.js';
import type { ReadModel } from '../lists/read-model.js';
import type { AgentScope } from '../lists/scope.js';
import { stats, type Stats } from '../lists/stats.query.js';
import { newestCalls, type ToolName } from '../lists/newest-calls.query.js';
import { listTokens, type TokenItem } from '../lists/tokens.query.js';
import { listTurns, type TurnItem } from '../lists/turns.query.js';
import type { ReadTurns } from '../turns/read-turns.js';

const READ_YOUR_WRITE_MS = 2_000;
const PAGE = 50;

/** What people look through: from the read model, and as new as `after` says, if that can be had in 2 s. */
export class Lists {
  constructor(
    private readonly readModel: ReadModel,
    private readonly turns: ReadTurns,
  ) {}

  async approvals(caller: Caller, { after, ...query }: ApprovalsQuery): Promise<Page<ApprovalItem>> {
    const page = await listApprovals(await this.from(after), {
      ...query,
      ...this.paging(caller, query),
      ...scopeOf(caller),
    });
    const seesArguments = hasRole(caller, 'agent', 'approver', 'auditor');
    return seesArguments ? page : { ...page, items: page.items.map(withoutArguments) };
  }

  async readyTurns(caller: Caller, { after, ...query }: TurnsQuery): Promise<Page<TurnItem>> {
    return listTurns(await this.from(after), { ...query, ...this.paging(caller, query) });
  }

  async policies(caller: Caller, { after, ...query }: ListQuery): Promise<Page<PolicyItem>> {
    return listPolicies(await this.from(after), this.paging(caller, query));
  }

  async grants(caller: Caller, { after, ...query }: ListQuery): Promise<Page<GrantItem>> {
    return listGrants(await this.from(after), this.paging(caller, query));
  }

  /** The newest calls, of the tool where one is named, the newest first; until now, if the read model gets there within 2 s. */
  async newestCalls({ tenant }: Caller, most: number, tool?: ToolName): Promise<readonly ApprovalId[]> {
    const { lastSeq } = await this.turns.log.state();
    return newestCalls(await this.from(lastSeq), { tenant, most, ...(tool ? { tool } : {}) });
  }

  async tokens(caller: Caller, { after, ...query }: ListQuery): Promise<Page<TokenItem>> {
    return listTokens(await this.from(after), this.paging(caller, query));
  }

  async parked(caller: Caller, { after, ...query }: ListQuery): Promise<Page<ParkedItem>> {
    return listParked(await this.from(after), this.paging(caller, query));
  }

  async stats({ tenant }: Pick<Caller, 'tenant'>, { after }: StreamQuery): Promise<Stats> {
    const { lastSeq } = await this.turns.log.state();
    return stats(await this.from(after), { tenant, now: this.turns.now(), logLastSeq: lastSeq });
  }

  private async from(after: number | undefined): Promise<ReadModel> {
    if (after !== undefined) await this.readModel.waitFor(after, READ_YOUR_WRITE_MS);
    return this.readModel;
  }

  private paging({ tenant }: Caller, { limit = PAGE, cursor }: Pick<ListQuery, 'limit' | 'cursor'>) {
    return { tenant, limit, cursor, now: this.turns.now() };
  }
}

/** Who is only an agent sees its own agent's, in its own pools. */
function scopeOf(caller: Caller): { readonly agentScope?: AgentScope } {
  if (hasRole(caller, 'approver', 'operator', 'auditor')) return {};
  return { agentScope: { agent: caller.agent, pools: caller.pools } };
}
