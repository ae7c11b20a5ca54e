import type { Asked, Entry, Ran, Told } from '../ledger.js';
import type { OpenedTurn } from '../load/board.js';
import { checkAcknowledged, type Exchange } from './acknowledged.js';
import { checkApproval } from './approvals.js';
import { checkContinuations } from './continuations.js';
import { checkEnd, checkLeases } from './leases.js';
import { checkEndedUses } from './ended-uses.js';
import { checkGrant, checkGrantsAtRest } from './grants.js';
import { checkRan } from './ran.js';
import { checkSameTurn } from './same-turn.js';
import { lastOf, readStream, type Message } from './read-log.js';
import { checkReadModel } from './read-model.js';
import { storyOfLog, turnKeyOf } from './story-of-log.js';
import type { Invariant, Violation } from './violation.js';

export interface Checked {
  readonly natsUrl: string;
  readonly credsDir: string;
  readonly databaseUrl: string;
  readonly ledger: readonly Entry[];
  /** Turns that had not ended a minute after the faults stopped. */
  readonly stuck: readonly OpenedTurn[];
  /** The longest that a service was made to stand still. */
  readonly standstillMs: number;
  /** How long the read model has to come to the log's end; a minute where nothing is said. */
  readonly levelWithinMs?: number;
  /** Subjects of what was written by a raw client, which no service would have written. */
  readonly poison: ReadonlySet<string>;
}

export interface Verdict {
  readonly violations: readonly Violation[];
  readonly facts: number;
  readonly commands: number;
  /** Answered by what was said before: the decisions by grants and by earlier denials. */
  readonly precedents: readonly Message[];
}

/** Between the log and the ledger, whatever the product says of itself. Again where the log went on while it was looked at. */
export async function check(checked: Checked): Promise<Verdict> {
  for (;;) {
    const { last, ...verdict } = await checkOnce(checked);
    const now = [await lastOf(checked, 'EVENTS'), await lastOf(checked, 'COMMANDS')];
    if (last.every((seq, at) => seq === now[at])) return verdict;
  }
}

async function checkOnce(checked: Checked): Promise<Verdict & { readonly last: readonly number[] }> {
  const violations: Violation[] = [];
  const report = (invariant: Invariant, subject: string, what: string) =>
    void violations.push({ invariant, subject, what });
  const events = await readStream(checked, 'EVENTS');
  const commands = await readStream(checked, 'COMMANDS');
  for (const wrong of [...events.wrong, ...commands.wrong]) report('I7', 'log', wrong);
  checkOnePerSubject([...events.messages, ...commands.messages], report);

  const isOurs = ({ subject }: Message) => !checked.poison.has(subject);
  const story = storyOfLog(events.messages.filter(isOurs), commands.messages.filter(isOurs));
  for (const orphan of story.orphans) report('I5', orphan.subject, `${orphan.type} is about what nobody asked for`);
  for (const turn of story.turns.values()) {
    checkLeases(turn.turnKey, turn.leases, report);
    checkEnd(turn, checked, report);
    checkContinuations(turn, report);
    for (const call of turn.calls) {
      checkApproval(call, { story, standstillMs: checked.standstillMs }, report);
      checkLeases(call.approvalId, call.leases, report);
    }
  }
  for (const grant of story.grants.values()) checkGrant(story, grant, checked, report);
  checkGrantsAtRest(story, report);
  const exchanges = exchangesOf(checked.ledger);
  checkEndedUses(story, exchanges, report);
  checkAcknowledged(story, exchanges, report);
  checkSameTurn(exchanges, report);
  checkRan(
    story,
    checked.ledger.filter((entry): entry is Ran => entry.is === 'ran'),
    report,
  );
  for (const { conversationId, turnId } of checked.stuck)
    report(
      'I6',
      turnKeyOf(conversationId, turnId),
      `${conversationId} ${turnId} has not ended a minute after everything was well again`,
    );
  // From the first fact that it cannot read the read model stands still, as it must.
  if (checked.poison.size === 0) await checkReadModel(checked, story, report);
  const last = [events, commands].map(({ messages }) => messages.at(-1)?.seq ?? 0);
  const precedents = [...story.calls.values()].flatMap(({ decisions }) =>
    decisions.filter(({ body }) => body.actor.kind === 'grant' || body.actor.kind === 'denial'),
  );
  return { violations, facts: events.messages.length, commands: commands.messages.length, precedents, last };
}

function checkOnePerSubject(
  messages: readonly Message[],
  report: (...args: [Invariant, string, string]) => void,
): void {
  const seen = new Map<string, number>();
  for (const { subject, seq } of messages) {
    if (seen.has(subject)) report('I1', subject, `facts ${seen.get(subject)} and ${seq} stand under one subject`);
    seen.set(subject, seq);
  }
}

/** Each request with the answer that was believed; what was never answered promises nothing. */
export function exchangesOf(ledger: readonly Entry[]): readonly Exchange[] {
  const asked = new Map<number, Asked>();
  const exchanges: Exchange[] = [];
  for (const entry of ledger) {
    if (entry.is === 'asked') asked.set(entry.id, entry);
    const question = entry.is === 'told' ? asked.get(entry.id) : undefined;
    if (question) exchanges.push({ asked: question, told: entry as Told });
  }
  return exchanges;
}
