import { CallerId, OneOf, Optional, Text } from '../fields.js';
import type { ApprovalId, LeaseKey, TurnKey } from '../ids.js';

export const CONTINUATION_KINDS = ['turn', 'call'] as const;
export type ContinuationKind = (typeof CONTINUATION_KINDS)[number];

/** The one command kept in a stream, because it must outlive everybody. Ids only: what it means is read from the log at each pull. */
export class ContinueConversation {
  @Text(64) key: LeaseKey;
  @OneOf(CONTINUATION_KINDS) kind: ContinuationKind;
  @Text(64) turnKey: TurnKey;
  @Optional() @Text(64) approvalId?: ApprovalId;
  @CallerId() conversationId: string;
  @CallerId() turnId: string;
  @CallerId() pool: string;
}

export type ContinuationCommand = { readonly type: 'ContinueConversation'; readonly data: ContinueConversation };
