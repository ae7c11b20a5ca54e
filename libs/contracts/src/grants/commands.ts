import { Digest, Int, Nested, NonEmptyText, Optional, Text } from '../fields.js';
import type { GrantId } from '../ids.js';
import { GrantScope, MOST_USES } from './events.js';

const YEAR = 31_536_000;

/** A decision's `remember`: approve calls like this one from now on, too. */
export class Remember {
  @Nested(() => GrantScope) scope: GrantScope;
  /** 30 days where not given. */
  @Optional() @Int(1, YEAR) expiresInSeconds?: number;
  /** 1,000 where not given. */
  @Optional() @Int(1, MOST_USES) maxUses?: number;
}

/** `POST /v1/grants` and `POST /v1/grants/preview`. */
export class GrantBody extends Remember {
  /** As approvals show it; that of the tool's newest call on record where not given. */
  @Optional() @Digest() schemaDigest?: string;
}

export class IssueGrant extends Remember {
  @Digest() schemaDigest: string;
}

/** `POST /v1/grants/{grantId}/end`. */
export class EndGrantBody {
  @Optional() @NonEmptyText(4_000) reason?: string;
}

export class EndGrant extends EndGrantBody {
  @Text(64) grantId: GrantId;
}
