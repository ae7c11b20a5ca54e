import type { Message } from './read-log.js';
import { dataOf, type CallFacts, type TurnFacts } from './story-of-log.js';
import type { Report } from './violation.js';

const isBefore = (fact: Message | undefined, command: Message): boolean =>
  fact !== undefined && timeOf(fact) <= timeOf(command);

/** Nanoseconds do not fit a number: whole seconds and the rest compare one after the other, as text of one length. */
function timeOf({ time }: Message): string {
  const [, seconds = '', rest = ''] = /^(.{19})\.?(\d*)Z$/.exec(time) ?? [];
  return `${seconds}.${rest.padEnd(9, '0')}`;
}

const isApproved = ({ decisions: [decision] }: CallFacts): boolean =>
  decision !== undefined && dataOf(decision).decision === 'approved';

/** The fact that gave the call its result; undefined where it has none. */
function closing(call: CallFacts): Message | undefined {
  const [use] = call.uses;
  if (call.outcomes[0]) return call.outcomes[0];
  if (use && use.type !== 'ToolExecutionStarted') return use;
  return isApproved(call) ? undefined : call.decisions[0];
}

/** Each continuation once, and only after what it follows from. */
export function checkContinuations(turn: TurnFacts, report: Report): void {
  const { turnKey, data, calls, commands } = turn;
  if (commands.length > 1) report('I1', turnKey, `${commands.length} continuations of the turn`);
  const closes = (call: CallFacts) => (data.release === 'all' ? call.decisions[0] : closing(call));
  for (const command of commands)
    for (const call of calls)
      if (!isBefore(closes(call), command))
        report('I4', turnKey, `it was continued (${command.subject}) before ${call.approvalId} was closed`);
  for (const call of calls) checkCall(call, report);
  const [end] = turn.ends;
  const mayGoOn = calls.every((call) => closes(call) !== undefined);
  if (!end && mayGoOn && commands.length === 0) report('I4', turnKey, 'it may go on, and nobody was told');
}

function checkCall(call: CallFacts, report: Report): void {
  const { approvalId, turn, commands } = call;
  if (commands.length > 1) report('I1', approvalId, `${commands.length} continuations of the call`);
  if (commands.length > 0 && turn.data.release !== 'each')
    report('I4', approvalId, 'it was continued by itself in a turn that is released whole');
  for (const command of commands)
    if (!isApproved(call) || !isBefore(call.decisions[0], command))
      report('I4', approvalId, `it was continued (${command.subject}) before it was approved`);
  const isDue = turn.data.release === 'each' && isApproved(call) && call.uses.length === 0 && turn.ends.length === 0;
  if (isDue && commands.length === 0) report('I4', approvalId, 'it may run, and nobody was told');
}
