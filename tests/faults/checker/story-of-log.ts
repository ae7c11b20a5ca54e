import { createHash } from 'node:crypto';
import type { Message } from './read-log.js';

/** The facts about one call, in the order of the log. */
export interface CallFacts {
  readonly approvalId: string;
  readonly turn: TurnFacts;
  readonly index: number;
  readonly call: any;
  readonly decisions: Message[];
  readonly uses: Message[];
  readonly outcomes: Message[];
  readonly leases: Message[];
  readonly commands: Message[];
}

export interface TurnFacts {
  readonly turnKey: string;
  readonly request: Message;
  readonly data: any;
  readonly calls: readonly CallFacts[];
  readonly leases: Message[];
  readonly ends: Message[];
  readonly commands: Message[];
}

export interface GrantFacts {
  readonly grantId: string;
  readonly issued: Message;
  readonly redeemed: Message[];
  readonly ends: Message[];
}

/** The log sorted by what it is about, by nothing but subjects, types and plain JSON. */
export interface LogStory {
  readonly events: readonly Message[];
  readonly commands: readonly Message[];
  readonly turns: ReadonlyMap<string, TurnFacts>;
  readonly calls: ReadonlyMap<string, CallFacts>;
  readonly grants: ReadonlyMap<string, GrantFacts>;
  readonly policies: readonly Message[];
  readonly tokens: ReadonlyMap<string, Message[]>;
  /** Facts about what nobody asked for. */
  readonly orphans: readonly Message[];
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** The public rule for ids, written a second time. */
export function turnKeyOf(conversationId: string, turnId: string, tenant = 'default'): string {
  const bytes = createHash('sha256')
    .update(JSON.stringify(['turn', tenant, conversationId, turnId]))
    .digest();
  let bits = 0n;
  for (const byte of bytes.subarray(0, 17)) bits = (bits << 8n) | BigInt(byte);
  const digits = Array.from({ length: 26 }, (_, n) => ALPHABET[Number((bits >> BigInt(136 - 5 * (n + 1))) & 31n)]);
  return `tn_${digits.join('')}`;
}

export const approvalIdOf = (turnKey: string, index: number): string => `ap_${turnKey.slice(3)}_${index}`;
export const dataOf = (message: Message): any => message.body?.data ?? {};
const aboutOf = ({ subject }: Message): string => subject.split('.')[4] ?? '';

export function storyOfLog(events: readonly Message[], commands: readonly Message[]): LogStory {
  const turns = new Map<string, TurnFacts>();
  const calls = new Map<string, CallFacts>();
  const grants = new Map<string, GrantFacts>();
  const policies: Message[] = [];
  const tokens = new Map<string, Message[]>();
  const orphans: Message[] = [];
  for (const message of events) {
    const about = aboutOf(message);
    if (message.type === 'ToolApprovalRequested') addTurn(message, turns, calls);
    else if (message.type === 'PolicyPublished') policies.push(message);
    else if (message.type === 'GrantIssued')
      grants.set(about, { grantId: about, issued: message, redeemed: [], ends: [] });
    else if (message.type.startsWith('Token')) tokens.set(about, [...(tokens.get(about) ?? []), message]);
    else if (!placeOf(message, { turn: turns.get(about), call: calls.get(about), grant: grants.get(about) }))
      orphans.push(message);
  }
  for (const command of commands) {
    const { kind, turnKey, approvalId } = dataOf(command);
    const of = kind === 'turn' ? turns.get(turnKey) : calls.get(approvalId);
    if (of) of.commands.push(command);
    else orphans.push(command);
  }
  return { events, commands, turns, calls, grants, policies, tokens, orphans };
}

function addTurn(request: Message, turns: Map<string, TurnFacts>, calls: Map<string, CallFacts>): void {
  const data = dataOf(request);
  const turnKey = aboutOf(request);
  const of: CallFacts[] = [];
  const turn: TurnFacts = { turnKey, request, data, calls: of, leases: [], ends: [], commands: [] };
  for (const [index, call] of (data.toolCalls as unknown[]).entries()) {
    const approvalId = approvalIdOf(turnKey, index);
    const facts = { decisions: [], uses: [], outcomes: [], leases: [], commands: [] };
    of.push({ approvalId, turn, index, call, ...facts });
  }
  for (const call of of) calls.set(call.approvalId, call);
  turns.set(turnKey, turn);
}

interface About {
  readonly turn: TurnFacts | undefined;
  readonly call: CallFacts | undefined;
  readonly grant: GrantFacts | undefined;
}

/** False where the fact belongs to nothing that is known. */
function placeOf(message: Message, { turn, call, grant }: About): boolean {
  switch (message.type) {
    case 'TurnResumed':
    case 'LeaseExtended':
    case 'LeaseGivenBack':
      (turn ?? call)?.leases.push(message);
      return turn !== undefined || call !== undefined;
    case 'TurnEnded':
      turn?.ends.push(message);
      return turn !== undefined;
    case 'ToolApprovalDecided':
      call?.decisions.push(message);
      return call !== undefined;
    case 'ToolExecutionStarted':
    case 'ToolApprovalRevoked':
    case 'ToolApprovalLapsed':
      call?.uses.push(message);
      return call !== undefined;
    case 'ToolExecutionSucceeded':
    case 'ToolExecutionFailed':
      call?.outcomes.push(message);
      return call !== undefined;
    case 'GrantRedeemed':
      grant?.redeemed.push(message);
      return grant !== undefined;
    case 'GrantEnded':
      grant?.ends.push(message);
      return grant !== undefined;
    case 'DecisionRefused':
      return call !== undefined;
    case 'LogOpened':
      return true;
    default:
      return false;
  }
}
