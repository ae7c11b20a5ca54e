import type { HoldpointEvent } from '#contracts/events';
import { canonicalJson, digestOf } from '#contracts/canonical';
import { turnKeyOf } from '#contracts/ids';
import type { FieldError } from '#contracts/parse';
import { refusal, type Refusal } from '#contracts/refusals';
import { mayUsePool, mayUseServer, speaksForAgent, type Caller } from '#contracts/roles';
import type { OpenTurn } from '#contracts/turns/commands';
import type { RequestedToolCall, ToolApprovalRequested } from '#contracts/turns/events';
import { accept, nothingToDo, refuse, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import { compileInputSchemas } from '#fold/input-schema';
import { isAgentOf } from '#fold/permission';
import { readTurn } from '#fold/read';
import { UNKNOWN_TURN, type Turn } from '#fold/turn';
import { notYours, type ByCaller } from './turn-state.js';

const MOST_BYTES = 1_048_576;
const LONGEST_SECONDS = 2_592_000;

/** With its id: made before the rule is asked, where the caller gave none. */
export type NamedTurn = OpenTurn & { readonly turnId: string };

export interface OpeningState {
  readonly turn: Turn;
  readonly superseded?: Turn;
}

/** One fact for the whole turn: it is in the log whole or not at all, and the same turn again is the same turn. */
export function openTurn(
  command: NamedTurn,
  state: OpeningState,
  { caller }: ByCaller,
): Answer<HoldpointEvent, Refusal> {
  const refused =
    beyondToken(command, caller) ?? notYourPredecessor(state, caller) ?? invalid(command, state) ?? oversized(command);
  if (refused) return refuse(refused);
  const request = requestOf(command, caller);
  if (state.turn.state === 'unknown') return accept({ type: 'ToolApprovalRequested', data: request });
  if (state.turn.request.digest === request.digest) return nothingToDo;
  return refuse(refusal('conflict', 'Another turn was opened under this conversation and turn id'));
}

function beyondToken({ agent, pool = 'default', toolCalls }: NamedTurn, caller: Caller): Refusal | undefined {
  const no = (what: string) => refusal('forbidden', `This token does not speak for the ${what}`);
  if (!speaksForAgent(caller, agent.id)) return no(`agent "${agent.id}"`);
  if (!mayUsePool(caller, pool)) return no(`pool "${pool}"`);
  const foreign = toolCalls.find(({ server }) => !mayUseServer(caller, server));
  return (
    foreign && no(foreign.server === undefined ? 'server of a call that names none' : `server "${foreign.server}"`)
  );
}

/** To take a turn's place is to cancel it. */
const notYourPredecessor = ({ superseded }: OpeningState, caller: Caller): Refusal | undefined =>
  superseded && superseded.state !== 'unknown' && !isAgentOf(caller, superseded) ? notYours() : undefined;

function invalid(command: NamedTurn, state: OpeningState): Refusal | undefined {
  const errors = [...repeatedIds(command), ...brokenSchemas(command), ...wrongPredecessor(command, state)];
  return errors.length === 0 ? undefined : refusal('invalid-input', 'The turn is not valid', { errors });
}

function repeatedIds({ toolCalls }: NamedTurn): FieldError[] {
  const ids = toolCalls.map(({ toolCallId }) => toolCallId);
  return ids.flatMap((id, index) =>
    ids.indexOf(id) === index
      ? []
      : [{ path: `toolCalls[${index}].toolCallId`, message: 'is the id of an earlier call too' }],
  );
}

function brokenSchemas({ toolCalls }: NamedTurn): FieldError[] {
  const schemas = compileInputSchemas(toolCalls.map(({ inputSchema }) => inputSchema));
  return schemas.flatMap((compiled, index) => {
    if (!compiled || compiled.ok) return [];
    return [
      {
        path: `toolCalls[${index}].inputSchema`,
        message: `is not a JSON Schema 2020-12 that can be used: ${compiled.message}`,
      },
    ];
  });
}

function wrongPredecessor({ supersedes, turnId }: NamedTurn, { superseded }: OpeningState): FieldError[] {
  if (supersedes === undefined) return [];
  if (supersedes === turnId) return [{ path: 'supersedes', message: 'is this turn itself' }];
  return superseded?.state === 'unknown' ? [{ path: 'supersedes', message: 'is no turn of this conversation' }] : [];
}

/** The canonical form can be longer than what was sent; it is what the log must hold. */
function oversized(command: NamedTurn): Refusal | undefined {
  if (Buffer.byteLength(canonicalJson(command)) <= MOST_BYTES) return undefined;
  return refusal('too-large', 'In canonical form the turn is over 1 MiB');
}

/** `holder` is left out of the digest: a restarted worker may open its turn again. */
function requestOf(command: NamedTurn, caller: Caller): ToolApprovalRequested {
  const { holder, release = 'all', pool = 'default', toolCalls, expiresInSeconds, ...rest } = command;
  const expiry =
    expiresInSeconds === undefined ? {} : { expiresInSeconds: Math.min(expiresInSeconds, LONGEST_SECONDS) };
  const asked = { ...rest, ...expiry, release, pool, toolCalls: toolCalls.map(withDigest) };
  return {
    ...asked,
    turnKey: turnKeyOf(caller.tenant, command.conversationId, command.turnId),
    digest: digestOf(asked),
    tokenId: caller.tokenId,
    ...(holder === undefined ? {} : { holder }),
    ...(caller.owner === undefined ? {} : { owner: caller.owner }),
  };
}

const withDigest = (call: OpenTurn['toolCalls'][number]): RequestedToolCall => ({
  ...call,
  argsDigest: digestOf(call.args),
});

export const opening: Rule<NamedTurn, OpeningState, ByCaller> = {
  read: async (log, tenant, { conversationId, turnId, supersedes }) => {
    const read = (id: string) => readTurn(log, tenant, turnKeyOf(tenant, conversationId, id));
    const [turn, superseded] = await Promise.all([
      read(turnId),
      supersedes === undefined ? undefined : read(supersedes),
    ]);
    return { turn, ...(superseded === undefined ? {} : { superseded }) };
  },
  assume: (_log, _tenant, { supersedes }) => (supersedes === undefined ? { turn: UNKNOWN_TURN } : undefined),
  decide: openTurn,
  correlate: ({ conversationId }) => conversationId,
};
