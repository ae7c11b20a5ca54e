import { canonicalJson } from '#contracts/canonical';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import type { TokenIssued } from '#contracts/tokens/events';
import { unreachable } from '#decider/decider';
import { defineTable, type ChangeOf, type Row } from '#decider/projection';

/** Who may speak. The hash of a token's secret is read from the log alone and is not here. */
export const tokens = defineTable({
  name: 'tokens',
  key: ['tenant', 'token_id'],
  columns: {
    tenant: 'text',
    token_id: 'text',
    name: 'text',
    subject: 'text',
    roles: 'json',
    groups: 'json',
    agent: 'text',
    owner: 'text',
    servers: 'json',
    pools: 'json',
    expires_at: 'timestamptz',
    issued_at: 'timestamptz',
    issued_by: 'text',
    revoked_at: 'timestamptz',
    revoked_by: 'text',
    seq: 'bigint',
  },
});
type Changes = readonly ChangeOf<typeof tokens>[];
type Columns = Omit<Row<typeof tokens>, 'tenant' | 'token_id' | 'seq'>;

export function projectToken(fact: Recorded<HoldpointEvent>): Changes {
  const { event } = fact;
  switch (event.type) {
    case 'TokenIssued':
      return put(fact, event.data.tokenId, issued(fact, event.data));
    case 'TokenRevoked':
      return put(fact, event.data.tokenId, { revoked_at: fact.occurredAt, revoked_by: fact.actor.id });
    case 'ToolApprovalRequested':
    case 'TurnResumed':
    case 'LeaseExtended':
    case 'LeaseGivenBack':
    case 'TurnEnded':
    case 'ToolExecutionSucceeded':
    case 'ToolExecutionFailed':
    case 'ToolApprovalDecided':
    case 'ToolExecutionStarted':
    case 'ToolApprovalRevoked':
    case 'ToolApprovalLapsed':
    case 'ApprovalVoteCast':
    case 'ApprovalVoteWithdrawn':
    case 'ApprovalEscalated':
    case 'ApprovalHoldEnded':
    case 'PolicyEvaluationFailed':
    case 'PolicyPublished':
    case 'FreezeSwitched':
    case 'GrantIssued':
    case 'GrantEnded':
    case 'GrantRedeemed':
    case 'DecisionRefused':
    case 'LogOpened':
      return [];
    default:
      return unreachable(event);
  }
}

const put = ({ tenant, seq }: Recorded, tokenId: string, columns: Columns): Changes => [
  { kind: 'put', row: { tenant, token_id: tokenId, ...columns, seq } },
];

const list = (names: readonly string[] | undefined) => (names === undefined ? undefined : canonicalJson(names));

const issued = ({ actor, occurredAt }: Recorded, data: TokenIssued): Columns => ({
  name: data.name,
  subject: data.subject,
  roles: list(data.roles),
  groups: list(data.groups),
  agent: data.agent,
  owner: data.owner,
  servers: list(data.servers),
  pools: list(data.pools),
  expires_at: data.expiresAt,
  issued_at: occurredAt,
  issued_by: actor.id,
});
