import { Digest, Moment, Name, Nested, OneOf, Optional, Text } from './fields.js';
import type { Instant, Tenant } from './ids.js';

/** By what right: `grant` is a standing decision, `denial` an earlier one of the same call. */
export const ACTOR_KINDS = ['person', 'agent', 'service', 'timer', 'policy', 'grant', 'denial'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

/** Who did it, by what right: `via` names the token, the reaction or the sweep. Never taken from a request's body. */
export class Actor {
  @OneOf(ACTOR_KINDS) kind: ActorKind;
  @Name(320) id: string;
  @Name(200) via: string;
}

/** What every fact carries beside its data (design 3.1). */
export class Envelope {
  /** Made once a command, before the first try; derived from the `Idempotency-Key` where there is one. */
  @Text(64) eventId: string;
  @Moment() occurredAt: Instant;
  /** The conversation, for turns and approvals; else the subject's own id. */
  @Text(200) correlationId: string;
  /** The event or request that this follows from. */
  @Text(200) causationId: string;
  /** Digest of the command's body; there only with an `Idempotency-Key`, so that another body under the same key shows. */
  @Optional() @Digest() commandDigest?: string;
  @Nested(() => Actor) actor: Actor;
}

/** A fact about to be written: everything but its place in the log. */
export interface Fact<Event = { readonly type: string; readonly data: object }> extends Envelope {
  readonly tenant: Tenant;
  readonly subject: string;
  readonly event: Event;
  readonly traceparent?: string;
}

/** A fact as the log has it. `seq` is its place in the log, `storedAt` the broker's own time. */
export interface Recorded<Event = { readonly type: string; readonly data: object }> extends Fact<Event> {
  readonly seq: number;
  readonly storedAt: Instant;
}
