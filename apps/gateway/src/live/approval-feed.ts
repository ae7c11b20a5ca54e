import { setTimeout as sleep } from 'node:timers/promises';
import type { Tenant } from '#contracts/ids';
import type { ReportLive } from './changes.js';
import { Wakers } from './wakers.js';

export interface Changed {
  readonly tenant: Tenant;
  /** Of the last fact that changed it. */
  readonly seq: number;
  readonly approval: object;
}

export interface ChangedUpTo {
  readonly changed: readonly Changed[];
  /** Facts up to here were looked at. */
  readonly upTo: number;
}

/** What the feed asks of the read model. */
export interface ApprovalSource {
  readonly projectedSeq: () => number;
  readonly onProjected: (listener: (seq: number) => void) => () => void;
  /** In the order of `seq`, of one tenant where one is named; a part of what there is, where that is much. */
  readonly changedSince: (after: number, tenant?: Tenant) => Promise<ChangedUpTo>;
  readonly stats: (tenant: Tenant) => Promise<object>;
}

export type FeedItem =
  { readonly is: 'approvals'; readonly changed: readonly Changed[] } | { readonly is: 'stats'; readonly stats: object };

const BETWEEN_MS = 50;
const STATS_EVERY_MS = 1_000;
const AGAIN_MS = 1_000;

/** Approvals as the read model changes: one question a process for what changed, however many watch. */
export class ApprovalFeed {
  private cursor = 0;
  private watching = 0;
  private isAsking = false;
  private readonly tenants = new Wakers<FeedItem>();
  private readonly countingFor = new Set<Tenant>();

  constructor(
    private readonly source: ApprovalSource,
    private readonly report: ReportLive,
  ) {}

  /** Until aborted. */
  start(signal: AbortSignal): void {
    const off = this.source.onProjected(() => void this.ask());
    signal.addEventListener('abort', off, { once: true });
  }

  /** Everything up to here has been handed on to those who watch. */
  get position(): number {
    return this.watching > 0 ? this.cursor : this.source.projectedSeq();
  }

  watch(tenant: Tenant, listener: (item: FeedItem) => void): () => void {
    this.cursor = this.position;
    this.watching += 1;
    const off = this.tenants.add(tenant, listener);
    let isOn = true;
    return () => {
      if (!isOn) return;
      isOn = false;
      this.watching -= 1;
      off();
    };
  }

  changedSince(after: number, tenant: Tenant): Promise<ChangedUpTo> {
    return this.source.changedSince(after, tenant);
  }

  private async ask(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    try {
      while (this.watching > 0 && this.cursor < this.source.projectedSeq()) {
        if (!(await this.askOnce())) break;
        await sleep(BETWEEN_MS);
      }
    } finally {
      this.isAsking = false;
    }
  }

  /** Where Postgres is away nothing is lost: the next question begins where the last good one ended. */
  private async askOnce(): Promise<boolean> {
    const after = this.cursor;
    try {
      const { changed, upTo } = await this.source.changedSince(after);
      if (this.cursor === after) this.handOn(changed, upTo);
      return upTo > after;
    } catch (error) {
      this.report(error, 'approval stream');
      await sleep(AGAIN_MS);
      return true;
    }
  }

  private handOn(changed: readonly Changed[], upTo: number): void {
    const failed = (error: unknown) => this.report(error, 'approval stream');
    for (const tenant of new Set(changed.map((one) => one.tenant))) {
      const ofTenant = changed.filter((one) => one.tenant === tenant);
      this.tenants.wake(tenant, { is: 'approvals', changed: ofTenant }, failed);
      if (this.tenants.has(tenant)) void this.count(tenant);
    }
    this.cursor = upTo;
  }

  /** At the end of the second in which something changed, so that the last change is always counted. */
  private async count(tenant: Tenant): Promise<void> {
    if (this.countingFor.has(tenant)) return;
    this.countingFor.add(tenant);
    await sleep(STATS_EVERY_MS);
    this.countingFor.delete(tenant);
    const failed = (error: unknown) => this.report(error, 'stats stream');
    const stats = await this.source.stats(tenant).catch(failed);
    if (stats) this.tenants.wake(tenant, { is: 'stats', stats }, failed);
  }
}
