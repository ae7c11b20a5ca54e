import { IsIn, IsString, Matches } from 'class-validator';
import { CallerId, Int, OneOf, Optional, Text } from './fields.js';
import { EVENT_SHAPES } from './events.js';
import { APPROVAL_STATUSES, type ApprovalStatus } from './statuses.js';

const SEQ = [0, Number.MAX_SAFE_INTEGER] as const;

/** What every list takes; `after` is the `seq` of a write that the list must show. */
export class ListQuery {
  @Optional() @Int(1, 200) limit?: number;
  @Optional()
  @IsString()
  @Matches(/^[A-Za-z0-9_.~=-]{1,512}$/, { message: 'must be a nextCursor of an earlier answer' })
  cursor?: string;
  @Optional() @Int(...SEQ) after?: number;
}

/** `GET /v1/approvals`. */
export class ApprovalsQuery extends ListQuery {
  @Optional() @OneOf(APPROVAL_STATUSES) status?: ApprovalStatus;
  @Optional() @Text(200) tool?: string;
  @Optional() @Text(200) agent?: string;
  @Optional() @CallerId() conversationId?: string;
  @Optional() @Text(200) q?: string;
  @Optional() @Int(0, 1_000_000_000) olderThanSeconds?: number;
}

/** `GET /v1/turns`. */
export class TurnsQuery extends ListQuery {
  @OneOf(['ready']) status: 'ready';
  @Optional() @Int(0, 1_000_000_000) olderThanSeconds?: number;
}

/** `GET /v1/events`: the log itself, in its order. */
export class EventsQuery {
  @Optional() @Int(...SEQ) after?: number;
  /** The same as `after`, under the name that lists have for it. */
  @Optional() @Int(...SEQ) cursor?: number;
  @Optional() @IsIn(Object.keys(EVENT_SHAPES)) type?: string;
  @Optional() @Text(64) approvalId?: string;
  @Optional() @Int(1, 1_000) limit?: number;
}

/** The streams: where to go on, for clients that cannot send `Last-Event-ID`. */
export class StreamQuery {
  @Optional() @Int(...SEQ) after?: number;
}
