import { digest, same } from '../canonical.js';
import type { Tolerance } from './approvals.js';
import type { Message } from './read-log.js';
import { dataOf, type CallFacts, type GrantFacts, type LogStory } from './story-of-log.js';
import type { Report } from './violation.js';

const ms = (instant: unknown): number => Date.parse(String(instant));
const at = (message: Message): number => ms(message.body?.occurredAt);
const samePerson = (a: unknown, b: unknown) =>
  String(a).normalize('NFC').toLowerCase() === String(b).normalize('NFC').toLowerCase();

/** The end of the grant was in the log before the fact began to be made, whatever stood still in between. */
const isAfterEnd = ({ ends: [end] }: GrantFacts, fact: Message, { standstillMs }: Tolerance): boolean =>
  end !== undefined && ms(end.time) + standstillMs < at(fact);

/** One grant's life: uses one after the other, never more than so many, each for one call that was asked for later. */
export function checkGrant(story: LogStory, grant: GrantFacts, tolerance: Tolerance, report: Report): void {
  const { grantId, issued, redeemed } = grant;
  const { maxUses, expiresAt } = dataOf(issued);
  const takenFor = new Set<string>();
  for (const [index, slot] of redeemed.entries()) {
    const { n, approvalId } = dataOf(slot);
    const request = story.calls.get(approvalId)?.turn.request;
    if (n !== index + 1) report('I1', grantId, `use ${n} stands in place ${index + 1}`);
    if (n > maxUses) report('I5', grantId, `use ${n} of at most ${maxUses} was taken`);
    if (takenFor.has(approvalId)) report('I1', grantId, `two of its uses were taken for ${approvalId}`);
    takenFor.add(approvalId);
    if (!request || request.seq > slot.seq)
      report('I5', grantId, `use ${n} is for ${approvalId}, not asked for before`);
    if (request && request.seq < issued.seq) report('I5', grantId, `use ${n} is for what was asked for before it`);
    if (at(slot) >= ms(expiresAt)) report('I5', grantId, `use ${n} was taken when its time was over`);
    if (isAfterEnd(grant, slot, tolerance)) report('I5', grantId, `use ${n} was taken after its end`);
  }
  checkIssued(story, grant, report);
}

/** What was remembered with a decision is what the decision says, by whoever decided, and the call is one of it. */
function checkIssued(story: LogStory, { grantId, issued }: GrantFacts, report: Report): void {
  const { approvalId, ...terms } = dataOf(issued);
  if (approvalId === undefined) return;
  const call = story.calls.get(approvalId);
  const [decision] = call?.decisions ?? [];
  if (!call || !decision || decision.seq > issued.seq || !same(dataOf(decision).remember, terms))
    return report('I5', grantId, `no decision on ${approvalId} gave it like this`);
  if (decision.body.actor.id !== issued.body.actor.id || decision.body.actor.kind !== 'person')
    report('I5', grantId, `it is of ${issued.body.actor.id}, and ${decision.body.actor.id} decided ${approvalId}`);
  const no = notOf(terms, issued.body.actor.id, call);
  if (no) report('I5', grantId, `it was remembered with ${approvalId}, and ${no}`);
}

/** A decision by a grant follows from a use that was taken for it, and from what the grant is for. */
export function checkGranted(
  call: CallFacts,
  decision: Message,
  { story, standstillMs }: Tolerance & { readonly story: LogStory },
  report: Report,
): void {
  const { approvalId, turn } = call;
  const { actor } = decision.body;
  const { grant: used, usableUntil, editedArgs } = dataOf(decision);
  const wrong = (what: string) => report('I5', approvalId, what);
  if ((actor.kind === 'grant') !== (used !== undefined)) return wrong(`${actor.kind} ${actor.id} decided by a grant`);
  if (!used) return;
  const grant = story.grants.get(used.grantId);
  if (!grant || actor.id !== used.grantId || used.by !== grant.issued.body.actor.id)
    return wrong(`it was approved by ${actor.id}, use of a grant of ${used.by}`);
  const { issued, redeemed, ends } = grant;
  const slot = redeemed.find((one) => dataOf(one).n === used.n && dataOf(one).approvalId === approvalId);
  const terms = dataOf(issued);
  if (!slot || slot.seq > decision.seq) return wrong(`use ${used.n} of ${used.grantId} was not taken for it before`);
  if (issued.seq > turn.request.seq) wrong(`${used.grantId} was given after it was asked for`);
  if (ends[0] && ends[0].seq < slot.seq) wrong(`${used.grantId} had ended before use ${used.n} was taken`);
  if (isAfterEnd(grant, decision, { standstillMs })) wrong(`${used.grantId} approved it after its end`);
  if (at(decision) >= ms(terms.expiresAt)) wrong(`${used.grantId} approved it when its time was over`);
  if (ms(usableUntil) > ms(terms.expiresAt)) wrong(`it can be used longer than ${used.grantId} is there`);
  if (dataOf(decision).decision !== 'approved' || editedArgs !== undefined)
    wrong('a grant only approves, as it was asked');
  const no = notOf(terms, used.by, call);
  if (no) wrong(`${used.grantId} approved it, and ${no}`);
  const [use] = call.uses;
  if (use?.type !== 'ToolExecutionStarted') return;
  if (dataOf(use).grantId !== used.grantId) wrong(`its use names the grant ${dataOf(use).grantId}`);
  if (isAfterEnd(grant, use, { standstillMs })) wrong(`its use began after the end of ${used.grantId}`);
}

/** Why a call is none that the grant is for. Conditions are those that the load writes. */
function notOf({ scope, schemaDigest }: any, by: string, { turn, call }: CallFacts): string | undefined {
  const { agent, owner, conversationId } = turn.data;
  const { inputSchema = {}, annotations = {}, toolName, server, args } = call;
  const { tool, when, ...named } = scope;
  const asked = { agent: agent.id, conversationId };
  if (tool !== toolName || named.server !== server) return `it is for ${tool} on ${named.server}`;
  if (!same({ ...asked, ...named, server: '' }, { ...asked, server: '' }))
    return `it is for others: ${JSON.stringify(named)}`;
  const most = when === undefined ? Number.POSITIVE_INFINITY : Number(/^args\.amount <= ([\d.]+)$/.exec(when)?.[1]);
  if (!(args.amount <= most)) return `it is only where ${when}`;
  if (schemaDigest !== digest({ inputSchema, annotations })) return 'the tool is another now';
  const interested = [turn.request.body.actor.id, owner, agent.onBehalfOf];
  if (interested.some((one) => one !== undefined && samePerson(one, by))) return `${by} had asked for it themselves`;
  return undefined;
}

/** What has to have happened once everything is at rest: what was remembered is given, and what an ended grant gave is taken back. */
export function checkGrantsAtRest(story: LogStory, report: Report): void {
  for (const { approvalId, turn, decisions, uses } of story.calls.values()) {
    const { remember, grant } = dataOf(decisions[0] ?? turn.request);
    if (remember && !story.grants.has(remember.grantId))
      report('I6', approvalId, `${remember.grantId} was remembered with it, and never given`);
    const isOver = grant !== undefined && (story.grants.get(grant.grantId)?.ends.length ?? 0) > 0;
    if (isOver && uses.length === 0 && turn.ends.length === 0)
      report('I6', approvalId, `${grant.grantId} has ended, and its approval was not taken back`);
  }
}
