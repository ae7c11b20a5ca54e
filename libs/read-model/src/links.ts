import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { decodeFact } from '#event-log/codec';
import { UnreadableFact, type RawFact } from '#event-log/log';
import { evolvePolicies, type Policies } from '#policy/in-force';
import { canonicalHeaders, chain } from './chain.js';
import type { Checkpoint } from './checkpoint.js';
import { ProjectionRefused } from './projection-refused.js';

/** One fact on its way into the read model: as the stream has it, as it reads, and its link in the chain. */
export interface Link {
  readonly raw: RawFact;
  readonly fact: Recorded<HoldpointEvent>;
  /** This fact's own change included: it concerns later requests only. */
  readonly policies: Policies;
  /** In the RFC 8785 form. */
  readonly headers: string;
  readonly hash: Buffer;
}

interface Place extends Pick<Checkpoint, 'lastSeq' | 'chain'> {
  readonly policies: Policies;
}

/** Reads and chains facts as they come; stops at the first that is not the next one, or that this code cannot read. */
export async function* linksAfter(from: Place, raws: AsyncIterable<RawFact>): AsyncIterable<Link> {
  let last = from;
  for await (const raw of raws) {
    const link = linkTo(last, raw);
    last = { lastSeq: raw.seq, chain: link.hash, policies: link.policies };
    yield link;
  }
}

function linkTo(last: Place, raw: RawFact): Link {
  const expected = last.lastSeq + 1;
  if (raw.seq !== expected)
    throw new ProjectionRefused('gap', `The log gave fact ${raw.seq} where ${expected} is next`);
  const headers = canonicalHeaders(raw.headers);
  const fact = readable(raw);
  return { raw, fact, policies: evolvePolicies(last.policies, fact), headers, hash: chain(last.chain, raw, headers) };
}

function readable(raw: RawFact): Recorded<HoldpointEvent> {
  try {
    return decodeFact<HoldpointEvent>(raw);
  } catch (error) {
    if (error instanceof UnreadableFact)
      throw new ProjectionRefused('unreadable-fact', error.message, { cause: error });
    throw error;
  }
}
