/** Why Holdpoint said no, by the names of its problem documents (RFC 9457). */
export type ProblemName =
  | 'invalid-input'
  | 'too-large'
  | 'unsupported-media-type'
  | 'invalid-edit'
  | 'rate-limited'
  | 'unauthenticated'
  | 'forbidden'
  | 'self-approval'
  | 'not-found'
  | 'conflict'
  | 'superseded'
  | 'late'
  | 'taken'
  | 'already-used'
  | 'arguments-changed'
  | 'revoked'
  | 'lapsed'
  | 'frozen'
  | 'stale-attempt'
  | 'not-ready'
  | 'in-doubt'
  | 'turn-ended'
  | 'unavailable'
  | (string & {});

/** A refusal, with everything that its document says; `name` is the problem's, so that `switch (error.name)` works. */
export class HoldpointProblem extends Error {
  override readonly name: ProblemName;
  readonly status: number;
  /** What to tell the model, where the tool did not run because of it. */
  readonly modelText: string | undefined;
  /** After how many seconds it is worth asking again, where that was said. */
  readonly retryAfter: number;
  readonly document: Readonly<Record<string, unknown>>;

  constructor(status: number, document: Readonly<Record<string, unknown>>, retryAfter = 0) {
    super(typeof document['detail'] === 'string' ? document['detail'] : `Holdpoint answered ${status}`);
    const { type } = document;
    this.name = typeof type === 'string' ? type.replace('urn:holdpoint:problem:', '') : 'unknown';
    this.status = status;
    this.modelText = typeof document['modelText'] === 'string' ? document['modelText'] : undefined;
    this.retryAfter = retryAfter;
    this.document = document;
  }
}

/** Nobody answered for as long as was waited: a write may have happened or not. No tool is run on an answer that never came. */
export class HoldpointUnreachable extends Error {
  override readonly name = 'HoldpointUnreachable';
}

export const isProblem = (error: unknown, ...names: readonly ProblemName[]): error is HoldpointProblem =>
  error instanceof HoldpointProblem && (names.length === 0 || names.includes(error.name));
