import { CallerId, Digest, Int, Moment, Name, Names, Nested, NonEmptyText, Optional, Sealed, Text } from '../fields.js';
import type { ApprovalId, GrantId, Instant } from '../ids.js';

// These names and shapes are what is on disk: they are only ever added to.

/** More than a standing decision should be good for: it is given anew. */
export const MOST_USES = 10_000;

/** Which calls: of one tool, and of nothing that is named and different. */
export class GrantScope {
  @Name() tool: string;
  /** Where none is named: calls that name none. The same name on another server is another tool. */
  @Optional() @Name() server?: string;
  @Optional() @Name() agent?: string;
  @Optional() @CallerId() conversationId?: string;
  /** CEL, as in a policy's rule; where it cannot say yes or no, a person is asked. */
  @Optional() @NonEmptyText(4_096) when?: string;
}

/** The grant that an approval gives beside itself; it is issued by the reaction to the decision. */
export class Remembered {
  @Text(64) grantId: GrantId;
  @Nested(() => GrantScope) scope: GrantScope;
  /** Of the tool's input schema and annotations (`schemaDigestOf`): a changed tool asks again. */
  @Digest() schemaDigest: string;
  @Moment() expiresAt: Instant;
  @Int(1, MOST_USES) maxUses: number;
  /** The groups that the grantor's token named: it allows no more than they could approve alone. */
  @Names() groups: string[];
}

/** From now on calls like these need nobody, as long as the grantor alone could have approved them. */
export class GrantIssued extends Remembered {
  /** The decision that it was remembered with; none where it was issued by itself. */
  @Optional() @Text(64) approvalId?: ApprovalId;
}

export class GrantEnded {
  @Text(64) grantId: GrantId;
  @Optional() @NonEmptyText(4_000) @Sealed() reason?: string;
}

/** One use of the grant: slot `red.<n>` of at most `maxUses`. It is void where the approval was decided otherwise. */
export class GrantRedeemed {
  @Text(64) grantId: GrantId;
  @Int(1, MOST_USES) n: number;
  @Text(64) approvalId: ApprovalId;
}

export type GrantEvent =
  | { readonly type: 'GrantIssued'; readonly data: GrantIssued }
  | { readonly type: 'GrantEnded'; readonly data: GrantEnded }
  | { readonly type: 'GrantRedeemed'; readonly data: GrantRedeemed };
