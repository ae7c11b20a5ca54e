import type { DecideApproval } from '#contracts/approvals/commands';
import { canonicalJson, digestOf } from '#contracts/canonical';
import { refusal, type Refusal } from '#contracts/refusals';
import type { Caller } from '#contracts/roles';
import type { RequestedToolCall } from '#contracts/turns/events';
import { compileInputSchema } from '#fold/input-schema';
import { isEnoughAlone, isOneAct } from '#policy/asked';
import { ruleOn } from '#policy/ruling';
import type { Proposal } from '#policy/votes';
import type { KnownCall } from './call.js';

const MOST_BYTES = 1_048_576;

/** Other arguments than the model asked for, whole. */
export interface Edit {
  readonly args: Record<string, unknown>;
  readonly digest: string;
}

/** Of the arguments that are proposed now, however they are spelled, the same again are no edit; those asked for first can be one. */
export function editOf({ updatedInput: args }: DecideApproval, proposal: Proposal): Edit | undefined {
  if (args === undefined) return undefined;
  const digest = digestOf(args);
  return digest === proposal.argsDigest ? undefined : { args, digest };
}

/** What this answer would let run: what it says whole, else what it names, else what the agent asked for. */
export const meantBy = ({ updatedInput, argsDigest }: DecideApproval, call: RequestedToolCall): string =>
  updatedInput === undefined ? (argsDigest ?? call.argsDigest) : digestOf(updatedInput);

/** Which fields go with which answer; what the classes cannot say one by one. */
export function misplacedField({ decision, updatedInput, response, remember }: DecideApproval): Refusal | undefined {
  if (updatedInput !== undefined && decision !== 'approve') return notValid('updatedInput', 'goes with "approve" only');
  if (response !== undefined && decision !== 'respond') return notValid('response', 'goes with "respond" only');
  if (response === undefined && decision === 'respond') return notValid('response', 'must be there with "respond"');
  if (remember !== undefined && decision !== 'approve') return notValid('remember', 'goes with "approve" only');
  if (remember !== undefined && updatedInput !== undefined)
    return notValid('remember', 'does not go with "updatedInput": calls would be approved as they are asked for');
  return undefined;
}

/** A field of the decision that cannot be as it is. */
export const notValid = (path: string, message: string): Refusal =>
  refusal('invalid-input', `The decision is not valid: ${path} ${message}`, { errors: [{ path, message }] });

/** The canonical form can be longer than what was sent; it is what the log must hold. */
export function oversized(command: DecideApproval): Refusal | undefined {
  if (Buffer.byteLength(canonicalJson(command)) <= MOST_BYTES) return undefined;
  return refusal('too-large', 'In canonical form the decision is over 1 MiB');
}

/** An edit must satisfy what the tool says of its input, and whoever makes it must be enough for the edited call too. */
export const invalidEdit = (edit: Edit | undefined, known: KnownCall, caller: Caller): Refusal | undefined =>
  edit && (againstSchema(edit, known.call) ?? againstPolicy(edit, known, caller));

/** The edited call could have been asked for in the first place: it must not need more than this one does. */
function againstPolicy({ args }: Edit, { turn, call, policy, ruling }: KnownCall, caller: Caller): Refusal | undefined {
  const edited = ruleOn(policy, turn.request, { ...call, args });
  if (edited.effect === 'deny') return refusal('invalid-edit', 'The policy denies the call with these arguments');
  if (edited.effect === 'approve' || edited.applied.hash === ruling.applied.hash) return undefined;
  const isEnough = isOneAct(ruling.requirement) && isEnoughAlone(edited.requirement, caller);
  return isEnough
    ? undefined
    : refusal('invalid-edit', 'The call with these arguments would need the approval of others than this one');
}

/** Where that cannot be checked, no edit is let through. */
function againstSchema(edit: Edit, { inputSchema }: RequestedToolCall): Refusal | undefined {
  if (!inputSchema) return undefined;
  const compiled = compileInputSchema(inputSchema);
  if (!compiled.ok)
    return refusal('invalid-edit', `The tool's input schema cannot be used to check an edit: ${compiled.message}`);
  const errors = compiled
    .validate(edit.args)
    .map(({ path, message }) => ({ path: under('updatedInput', path), message }));
  return errors.length === 0
    ? undefined
    : refusal('invalid-edit', "The edit does not satisfy the tool's input schema", { errors });
}

const under = (parent: string, path: string): string =>
  path === '' || path.startsWith('[') || path.startsWith('/') ? `${parent}${path}` : `${parent}.${path}`;
