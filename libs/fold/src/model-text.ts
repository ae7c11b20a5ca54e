import { unreachable } from '#decider/decider';
import type { Approval } from './approval.js';

/** A person's words are data to the model, never instructions: quoted as a JSON string. */
const quoted = (words: string | undefined): string => (words ? ` They wrote: ${JSON.stringify(words)}.` : '');

const reasoned = (reason: string | undefined): string => (reason ? ` Its reason: ${JSON.stringify(reason)}.` : '');

/** What the model is told of one call. Unless the tool ran, it says so, and whether asking again can help (design 4). */
export function modelText(toolName: string, { decision, use, outcome }: Approval): string {
  const tool = JSON.stringify(toolName);
  if (outcome) return outcome.ok ? `The tool ${tool} ran and succeeded.` : `The tool ${tool} ran and failed.`;
  if (use?.is === 'revoked')
    return `The tool ${tool} did not run: its approval was taken back before it began.${quoted(use.reason)} Do not ask for it again unless the user wants it.`;
  if (use?.is === 'lapsed')
    return `The tool ${tool} did not run: it was approved, but not begun in time. If it is still needed, you may ask for it again.`;
  if (!decision) return `The tool ${tool} did not run: it is not decided yet.`;
  switch (decision.is) {
    case 'approved': {
      const edited = decision.editedArgs ? ' with arguments that the approver changed' : '';
      return `The tool ${tool} was approved${edited}.${quoted(decision.reason)}`;
    }
    case 'denied':
      if (decision.repeats)
        return `The tool ${tool} did not run: a person denied the same call before in this conversation, and it was asked for again (${decision.repeats.count}).${quoted(decision.reason)} Do not ask for the same call again; take the answer into account.`;
      return decision.byKind === 'policy'
        ? `The tool ${tool} did not run: a policy forbids it.${reasoned(decision.reason)} Asking again will not help.`
        : `The tool ${tool} did not run: a person denied it.${quoted(decision.reason)} Do not ask for the same call again; take the answer into account.`;
    case 'responded':
      return `The tool ${tool} did not run: a person answered in its place, and the answer is its result.${quoted(decision.reason)}`;
    case 'expired':
      return `The tool ${tool} did not run: nobody decided in time. If it is still needed, you may ask for it again.`;
    case 'cancelled':
      return `The tool ${tool} did not run: the request was cancelled.${quoted(decision.reason)} Do not ask for it again unless the user wants it.`;
    default:
      return unreachable(decision.is);
  }
}
