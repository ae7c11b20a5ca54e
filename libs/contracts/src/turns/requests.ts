import { CallerId, Int, OneOf, Optional, Text } from '../fields.js';

// Bodies and queries of requests that name a turn by `conversationId` and the path's `turnId`.

export class ConversationBody {
  @CallerId() conversationId: string;
}

/** `POST /v1/turns/{turnId}/resume`. */
export class ResumeBody extends ConversationBody {
  @CallerId() workerId: string;
}

/** `POST /v1/turns/{turnId}/cancel`. */
export class CancelBody extends ConversationBody {
  @Optional() @Text(4_000) reason?: string;
}

/** `POST /v1/turns/{turnId}/end`. */
export class EndBody extends ConversationBody {
  @Int(1, 1_000_000_000) attempt: number;
  @OneOf(['completed', 'failed']) status: 'completed' | 'failed';
}

/** `GET /v1/turns/{turnId}`. */
export class TurnQuery extends ConversationBody {
  /** Seconds to wait for the turn to be decided. */
  @Optional() @Int(0, 60) wait?: number;
}

/** `POST /v1/pools/{pool}/continuations/pull`. */
export class PullBody {
  @CallerId() workerId: string;
  @Optional() @Int(1, 100) max?: number;
  @Optional() @Int(0, 60) waitSeconds?: number;
}
