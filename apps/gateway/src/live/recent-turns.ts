import { LRUCache } from 'lru-cache';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { isApprovalId, isTurnKey, turnKeyOfApproval, type Tenant, type TurnKey } from '#contracts/ids';
import { placeOf } from '#contracts/subjects';
import { decodeFact } from '#event-log/codec';
import type { RawFact } from '#event-log/log';
import { foldWholeTurn, type WholeTurn } from '#fold/read';

const KEPT_BYTES = 8_388_608;
/** What a fact takes beside its bytes. */
const OVERHEAD_BYTES = 512;

interface Story {
  /** Not decoded before somebody asks. */
  readonly heard: RawFact[];
  readonly facts: Recorded<HoldpointEvent>[];
  bytes: number;
}

/**
 * The turns that began while this process followed the log, each with every fact up to where it has followed: as good as the
 * log's leader was at that point, and nothing need be asked. Bounded; a turn that was put out, or began before, is not here.
 */
export class RecentTurns {
  private readonly stories = new LRUCache<string, Story>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ bytes }) => bytes,
  });

  /** Every fact of the log, in order and without a gap. */
  hear(raw: RawFact): void {
    const { tenant, id, kind } = placeOf(raw.subject);
    const turnKey = isApprovalId(id) ? turnKeyOfApproval(id) : id;
    if (!isTurnKey(turnKey)) return;
    const key = keyOf(tenant, turnKey);
    const story = kind === 'req' ? { heard: [], facts: [], bytes: 0 } : this.stories.get(key);
    if (!story) return;
    // A copy: what came over the network is a part of a larger piece, which would stay with it.
    story.heard.push({ ...raw, data: raw.data.slice() });
    story.bytes += raw.data.byteLength + OVERHEAD_BYTES;
    this.stories.delete(key);
    this.stories.set(key, story);
  }

  of(tenant: Tenant, turnKey: TurnKey): WholeTurn | undefined {
    const story = this.stories.get(keyOf(tenant, turnKey));
    if (!story) return undefined;
    for (let raw = story.heard.shift(); raw; raw = story.heard.shift())
      story.facts.push(decodeFact<HoldpointEvent>(raw));
    return foldWholeTurn(story.facts, turnKey);
  }

  /** The connection may lead to another log from now on. */
  forget(): void {
    this.stories.clear();
  }
}

const keyOf = (tenant: Tenant, turnKey: TurnKey): string => `${tenant} ${turnKey}`;
