import type { ServerResponse } from 'node:http';
import { hasRole, type Caller } from '#contracts/roles';
import { withoutArguments } from '../auth/visibility.js';
import type { ApprovalFeed, Changed, FeedItem } from './approval-feed.js';
import type { ReportLive } from './changes.js';
import { Sse, sseMessages } from './sse.js';

export interface ApprovalStreams {
  readonly feed: ApprovalFeed;
  readonly report: ReportLive;
}

export interface ApprovalsRequest {
  readonly caller: Caller;
  /** The last id that the client has seen; only what is new where it has seen none. */
  readonly after?: number;
  /** Where the stream is written; from then on no problem document can be sent any more. */
  readonly takeOver: () => ServerResponse;
  readonly signal: AbortSignal;
  readonly isStillGood: () => Promise<boolean>;
}

/** Tells which approvals of the caller's tenant changed, each as it is once the change is in the read model. */
export const streamApprovals = (streams: ApprovalStreams, request: ApprovalsRequest): Promise<void> =>
  new Watching(streams, request).ended();

class Watching {
  private readonly sse: Sse<FeedItem>;
  private unwatch: (() => void) | undefined;
  /** Everything up to here is told; an id that the read model does not reach is of another log. */
  private told: number;

  constructor(
    private readonly streams: ApprovalStreams,
    private readonly request: ApprovalsRequest,
  ) {
    const { feed, report } = streams;
    const { takeOver, signal, isStillGood, after } = request;
    this.told = Math.min(after ?? feed.position, feed.position);
    const position = () => (this.unwatch ? Math.max(this.told, feed.position) : this.told);
    const render = (item: FeedItem) => Promise.resolve(renderItem(request.caller, item));
    this.sse = new Sse({ response: takeOver(), signal, isStillGood, report, position, render });
  }

  async ended(): Promise<void> {
    await this.catchUp().catch((error: unknown) => {
      this.streams.report(error, 'approval stream');
      this.sse.cut();
    });
    if (!this.sse.closed.aborted)
      await new Promise((resolve) => this.sse.closed.addEventListener('abort', resolve, { once: true }));
    this.unwatch?.();
  }

  private async catchUp(): Promise<void> {
    while (!this.sse.closed.aborted && this.told < this.streams.feed.position) {
      const { changed, upTo } = await this.streams.feed.changedSince(this.told, this.request.caller.tenant);
      await this.sse.send({ is: 'approvals', changed });
      if (upTo <= this.told) break;
      this.told = upTo;
    }
    this.goLive();
  }

  /** In the same tick as the past was found to be told: nothing falls between. */
  private goLive(): void {
    if (this.sse.closed.aborted) return;
    const floor = this.told;
    this.unwatch = this.streams.feed.watch(this.request.caller.tenant, (item) => this.sse.push(newerThan(floor, item)));
  }
}

const newerThan = (floor: number, item: FeedItem): FeedItem =>
  item.is === 'stats' ? item : { ...item, changed: item.changed.filter(({ seq }) => seq > floor) };

function renderItem(caller: Caller, item: FeedItem): string {
  if (item.is === 'stats') return sseMessages([{ type: 'stats', stats: item.stats }]);
  return item.changed.map((one, index) => renderChanged(caller, one, item.changed[index + 1])).join('');
}

/** One fact may change several approvals: the last of them carries its id. */
function renderChanged(caller: Caller, { approval, seq }: Changed, next: Changed | undefined): string {
  const shown = hasRole(caller, 'approver', 'auditor') ? approval : withoutArguments(approval);
  return sseMessages([{ type: 'approval', approval: shown }], next?.seq === seq ? undefined : seq);
}
