import type { ContinueConversation } from '#contracts/continuations/events';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { isApprovalId, turnKeyOfApproval, turnKeyOfLease, type LeaseKey, type Tenant } from '#contracts/ids';
import { subjects } from '#contracts/subjects';
import type { ToolApprovalRequested } from '#contracts/turns/events';
import type { FactReader } from '#fold/read';
import type { Offers } from './offers.js';
import { continuationOfCall, continuationOfTurn } from './when-approval-closed-then-continue-conversation.js';

/** Which continuation a fact sets free while its command waits at the broker for a lease or a doubt to end. */
export function setFreeBy({ type, data }: HoldpointEvent): LeaseKey | undefined {
  if (type === 'LeaseGivenBack') return data.key;
  const isOutcome = type === 'ToolExecutionSucceeded' || type === 'ToolExecutionFailed';
  return isOutcome && data.settledBecause !== undefined ? turnKeyOfApproval(data.approvalId) : undefined;
}

/** What was given back, or was in doubt and is settled, is offered at once and not when the broker thinks of it again. */
export async function offerAgain(events: FactReader, offers: Offers, fact: Recorded<HoldpointEvent>): Promise<void> {
  const key = setFreeBy(fact.event);
  if (key === undefined) return;
  const request = await requestOf(events, fact.tenant, key);
  if (request) offers.offerAgain(fact.tenant, { command: commandOf(request, key), storedAt: fact.storedAt });
}

async function requestOf(
  events: FactReader,
  tenant: Tenant,
  key: LeaseKey,
): Promise<ToolApprovalRequested | undefined> {
  const requested = await events.last(subjects.request(tenant, turnKeyOfLease(key)));
  return requested?.event.type === 'ToolApprovalRequested' ? requested.event.data : undefined;
}

const commandOf = (request: ToolApprovalRequested, key: LeaseKey): ContinueConversation =>
  isApprovalId(key) ? continuationOfCall(request, key) : continuationOfTurn(request);
