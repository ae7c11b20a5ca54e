import type { ContinueConversation } from '#contracts/continuations/events';
import { indexOfApproval, type Instant, type TokenId } from '#contracts/ids';
import { mayUseServer, type Caller } from '#contracts/roles';
import type { Approval } from '#fold/approval';
import { isAlive } from '#fold/lease';
import { isAgentOf } from '#fold/permission';
import { isClosed, isDecided, mayGoOn } from '#fold/status';
import type { KnownTurn } from '#fold/turn';
import { waitsForPerson, type JudgedTurn } from '#policy/run-again';

export interface OfferQuestion extends JudgedTurn {
  readonly command: ContinueConversation;
  /** When the broker stored the command: the holder's time alone with it runs from here. */
  readonly storedAt: Instant;
  readonly now: Instant;
  /** Who asks; nobody in particular where it is only to be known whether it may be offered at all. */
  readonly caller?: { readonly workerId: string; readonly tokenId: TokenId };
}

export type Judgement =
  | { readonly is: 'offer' }
  /** Never to be offered again. */
  | { readonly is: 'over' }
  | { readonly is: 'later'; readonly ms: number }
  /** What lets it go on is not in what was read: the command was written by one who saw more. */
  | { readonly is: 'not-yet' }
  /** Until then it is its holder's alone. */
  | { readonly is: 'holder-only'; readonly untilMs: number };

const IN_DOUBT_MS = 5_000;

/** What a delivered command is worth now: broker redelivery only offers, the log says what is true (design 4.9). */
export function judgeOffer(question: OfferQuestion): Judgement {
  const { turn, approvals, command, now } = question;
  const call = callOf(question);
  if (turn.state === 'ended' || (call && isClosed(call))) return { is: 'over' };
  const lease = command.kind === 'turn' ? turn.lease : call?.lease;
  if (lease?.state === 'taken' && isAlive(lease, now))
    return { is: 'later', ms: millisecondsBetween(now, lease.until) };
  const isReady = command.kind === 'turn' ? mayGoOn(turn, approvals) : call !== undefined && isDecided(call);
  if (!isReady) return { is: 'not-yet' };
  if (waitsForPerson(question, now, indexOf(command))) return { is: 'later', ms: IN_DOUBT_MS };
  return lease?.state === 'never-taken' ? holdersFirst(question) : { is: 'offer' };
}

/** Once anybody had it and let it go, its holder's time is over: a give-back is for the others, at once. */
function holdersFirst({ turn, storedAt, now, caller }: OfferQuestion): Judgement {
  const { holder, tokenId } = turn.request;
  const untilMs = Date.parse(storedAt) + (holder?.graceSeconds ?? 0) * 1_000;
  if (!holder || Date.parse(now) >= untilMs) return { is: 'offer' };
  const isHolder = caller?.workerId === holder.workerId && caller.tokenId === tokenId;
  return isHolder ? { is: 'offer' } : { is: 'holder-only', untilMs };
}

const indexOf = ({ approvalId }: ContinueConversation): number | undefined =>
  approvalId === undefined ? undefined : indexOfApproval(approvalId);

function callOf({ command, approvals }: OfferQuestion): Approval | undefined {
  const index = indexOf(command);
  return index === undefined ? undefined : approvals[index];
}

const millisecondsBetween = (from: Instant, to: Instant): number => Math.max(1, Date.parse(to) - Date.parse(from));

/** Whether a token reaches what a continuation is about: its agent, its pool, and the server of every call in it. */
export const mayTake = (caller: Caller, turn: KnownTurn, { approvalId }: ContinueConversation): boolean =>
  isAgentOf(caller, turn) &&
  turn.request.toolCalls.every(
    ({ server }, index) =>
      (approvalId !== undefined && index !== indexOfApproval(approvalId)) || mayUseServer(caller, server),
  );
