import { Flag, Int, Moment, Optional } from '../fields.js';
import type { Instant } from '../ids.js';
import { Policy } from './policy.js';

/** `POST /v1/policies`. */
export class PublishPolicy extends Policy {
  /** The version that this one follows: 0 where there is none yet. */
  @Int(0, 1_000_000_000) expectedVersion: number;
  @Optional() @Flag() acknowledgeRegret?: boolean;
}

/** `POST /v1/policies/simulate`: a draft, and which recorded requests it is tried on; all where nothing is said. Both ends count. */
export class SimulatePolicy extends Policy {
  @Optional() @Int(0, Number.MAX_SAFE_INTEGER) fromSeq?: number;
  @Optional() @Int(0, Number.MAX_SAFE_INTEGER) untilSeq?: number;
  @Optional() @Moment() from?: Instant;
  @Optional() @Moment() until?: Instant;
}
