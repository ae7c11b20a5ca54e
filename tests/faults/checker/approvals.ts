import { digest } from '../canonical.js';
import { checkGranted } from './grants.js';
import { isIdempotent } from './policy.js';
import type { Message } from './read-log.js';
import { checkRepeated } from './repeats.js';
import { leasesOf, takenBy } from './runners.js';
import { dataOf, type CallFacts, type LogStory } from './story-of-log.js';
import type { Report } from './violation.js';

const at = (message: Message): string => String(message.body?.occurredAt);
const ms = (instant: string): number => Date.parse(instant);
const samePerson = (a: unknown, b: unknown) =>
  String(a).normalize('NFC').toLowerCase() === String(b).normalize('NFC').toLowerCase();

export interface Tolerance {
  /** Between reading and writing a service may have stood still for that long. */
  readonly standstillMs: number;
}

/** One approval's life, from its facts alone: what each of them must follow from. */
export function checkApproval(
  call: CallFacts,
  { story, standstillMs }: Tolerance & { readonly story: LogStory },
  report: Report,
): void {
  if (call.decisions.length > 1) report('I1', call.approvalId, `${call.decisions.length} decisions`);
  if (call.uses.length > 1) report('I1', call.approvalId, `its use has ${call.uses.length} facts`);
  if (call.outcomes.length > 1) report('I1', call.approvalId, `${call.outcomes.length} outcomes`);
  const [decision] = call.decisions;
  const [use] = call.uses;
  const [outcome] = call.outcomes;
  if (decision) checkDecision(call, decision, report);
  if (decision) checkGranted(call, decision, { story, standstillMs }, report);
  if (decision) checkRepeated(story, call, decision, report);
  if (use) checkUse(call, use, { decision, standstillMs, report });
  if (outcome) checkOutcome(call, outcome, { story, use, standstillMs, report });
}

function checkDecision({ approvalId, turn, call }: CallFacts, decision: Message, report: Report): void {
  const { actor } = decision.body;
  const { decision: is, argsDigest, editedArgs, requestSeq } = dataOf(decision);
  const expiresInSeconds = Math.min(Number(turn.data.expiresInSeconds ?? 86_400), 86_400);
  const deadline = ms(at(turn.request)) + expiresInSeconds * 1_000;
  if (decision.seq < turn.request.seq || requestSeq !== turn.request.seq)
    report('I5', approvalId, `its decision ${decision.seq} is on request ${requestSeq}, not ${turn.request.seq}`);
  if (is === 'expired' && ms(at(decision)) < deadline) report('I5', approvalId, 'it expired before its deadline');
  if (actor.kind === 'person' && ms(at(decision)) >= deadline)
    report('I5', approvalId, `${actor.id} decided after its deadline`);
  const interested = [turn.request.body.actor.id, turn.data.owner, turn.data.agent.onBehalfOf];
  if (actor.kind === 'person' && interested.some((one) => one !== undefined && samePerson(one, actor.id)))
    report('I5', approvalId, `${actor.id} decided what they had asked for`);
  if (is === 'approved' && actor.kind !== 'person' && actor.kind !== 'grant')
    report('I5', approvalId, `it was approved by ${actor.kind} ${actor.id}`);
  if (argsDigest !== digest(editedArgs ?? call.args))
    report('I5', approvalId, 'its decision names the digest of other arguments than it lets run');
}

interface AroundUse {
  readonly decision: Message | undefined;
  readonly standstillMs: number;
  readonly report: Report;
}

function checkUse(facts: CallFacts, use: Message, { decision, standstillMs, report }: AroundUse): void {
  const { approvalId, turn, call } = facts;
  if (!decision || decision.seq > use.seq || dataOf(decision).decision !== 'approved')
    report('I5', approvalId, `${use.type} without an approval before it`);
  if (use.type !== 'ToolExecutionStarted') return;
  const { attempt, workerId, tokenId, argsDigest } = dataOf(use);
  const approved = digest(dataOf(decision ?? use).editedArgs ?? call.args);
  if (argsDigest !== approved) report('I5', approvalId, 'its use is of other arguments than were approved');

  const mine = leasesOf(facts).filter((one) => one.seq < use.seq && dataOf(one).attempt === attempt);
  const taken = mine.find(({ type }) => type === 'TurnResumed');
  if (!taken || dataOf(taken).workerId !== workerId || dataOf(taken).tokenId !== tokenId)
    return report('I5', approvalId, `${workerId} used it under attempt ${attempt}, which it did not have`);
  const until =
    mine
      .map((one) => String(dataOf(one).leaseUntil ?? ''))
      .sort()
      .at(-1) ?? '';
  if (at(use) >= until) report('I5', approvalId, `${workerId} used it at ${at(use)}, its lease was over at ${until}`);
  const over = mine.find((one) => one.type === 'LeaseGivenBack' && ms(at(one)) + standstillMs < ms(at(use)));
  if (over) report('I5', approvalId, `${workerId} used it after giving attempt ${attempt} back`);
  const [end] = turn.ends;
  if (end && ms(end.time) + standstillMs < ms(at(use)))
    report('I5', approvalId, 'its use began after the end of its turn');
}

interface AroundOutcome {
  readonly story: LogStory;
  readonly use: Message | undefined;
  readonly standstillMs: number;
  readonly report: Report;
}

function checkOutcome(call: CallFacts, outcome: Message, { story, use, standstillMs, report }: AroundOutcome): void {
  const { approvalId, turn } = call;
  if (use?.type !== 'ToolExecutionStarted' || use.seq > outcome.seq)
    return report('I5', approvalId, 'it has an outcome, and never began');
  const { attempt, settledBecause } = dataOf(outcome);
  const begun = dataOf(use).attempt;
  const mayBeAnother = settledBecause === undefined && attempt > begun && isIdempotent(story, call);
  if (attempt !== begun && !mayBeAnother)
    report('I5', approvalId, `attempt ${attempt} reported what attempt ${begun} had begun`);
  const taken = takenBy(call, attempt);
  const next = takenBy(call, attempt + 1);
  if (mayBeAnother && !(taken && taken.seq < outcome.seq))
    report('I5', approvalId, `attempt ${attempt} reported, and nobody had taken it`);
  if (mayBeAnother && next && ms(next.time) + standstillMs < ms(at(outcome)))
    report(
      'I5',
      approvalId,
      `attempt ${attempt} reported what it had not begun, after attempt ${attempt + 1} was taken`,
    );
  const settler = outcome.body.actor;
  if (settledBecause !== undefined && samePerson(settler.id, turn.request.body.actor.id))
    report('I5', approvalId, `${settler.id} settled what they had asked for`);
}
