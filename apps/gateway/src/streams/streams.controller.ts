import { Controller, Inject, Param, Query, Res } from '@nestjs/common';
import { StreamQuery } from '#contracts/queries';
import { Callers } from '#service/callers';
import { Listening, type Listener } from '../auth/asker.js';
import { On } from '../http/on.js';
import type { ApprovalFeed } from '../live/approval-feed.js';
import { streamApprovals } from '../live/approval-stream.js';
import { streamConversation, type ConversationStreams } from '../live/conversation-stream.js';
import { resumeAfter } from '../live/sse.js';

export const STREAMS = Symbol('what streams are made of');
export interface Streams extends ConversationStreams {
  readonly feed: ApprovalFeed;
}

@Controller()
export class StreamsController {
  constructor(
    @Inject(STREAMS) private readonly streams: Streams,
    private readonly callers: Callers,
  ) {}

  /** `@Res` tells Nest that the answer is not what this returns. */
  @On('conversationStream')
  async conversation(
    @Param('conversationId') conversationId: string,
    @Listening() listener: Listener,
    @Query() query: StreamQuery,
    @Res() _: unknown,
  ): Promise<void> {
    await streamConversation(this.streams, { ...this.begin(listener, query), conversationId });
  }

  @On('approvalStream')
  async approvals(@Listening() listener: Listener, @Query() query: StreamQuery, @Res() _: unknown): Promise<void> {
    await streamApprovals(this.streams, this.begin(listener, query));
  }

  /** A stream outlives many tokens: whether this one is still good is asked again and again. */
  private begin({ caller, credentials, lastEventId, signal, takeOver }: Listener, query: StreamQuery) {
    const { token, tenant } = credentials;
    const after = resumeAfter(lastEventId, query.after);
    const isStillGood = async () => (await this.callers.identify(token, tenant)) !== undefined;
    return { caller, signal, isStillGood, ...(after === undefined ? {} : { after }), takeOver };
  }
}
