import type { Reason, Refusal } from '#contracts/refusals';

/** What HTTP itself goes wrong with, beside the reasons of the contract. */
type TransportProblem = 'method-not-allowed' | 'timeout' | 'headers-too-large' | 'internal';
export type ProblemName = Reason | TransportProblem;

interface Kind {
  readonly status: number;
  readonly title: string;
}

/** The one table from a reason to its status (contract section 2); a reason without a line does not compile. */
export const PROBLEMS: Readonly<Record<ProblemName, Kind>> = {
  'invalid-input': { status: 400, title: 'The request is not valid' },
  'too-large': { status: 413, title: 'The request is too large' },
  'unsupported-media-type': { status: 415, title: 'Only application/json in UTF-8 is understood' },
  'invalid-edit': { status: 422, title: 'The edited arguments cannot be accepted' },
  'rate-limited': { status: 429, title: 'Too many requests' },
  unauthenticated: { status: 401, title: 'A valid token is needed' },
  forbidden: { status: 403, title: 'This token may not do that' },
  'self-approval': { status: 403, title: 'Nobody decides on what they asked for themselves' },
  'not-found': { status: 404, title: 'There is no such thing' },
  conflict: { status: 409, title: 'It contradicts what is recorded' },
  superseded: { status: 409, title: 'Somebody else was first' },
  late: { status: 409, title: 'The deadline has passed' },
  taken: { status: 409, title: 'Another worker has it' },
  'already-used': { status: 409, title: 'The approval has been used' },
  'arguments-changed': { status: 409, title: 'These are not the arguments that were approved' },
  revoked: { status: 409, title: 'The approval was taken back' },
  lapsed: { status: 409, title: 'The approval was not used in time' },
  frozen: { status: 409, title: 'Execution is frozen' },
  'stale-attempt': { status: 409, title: 'Another attempt has taken over' },
  'not-ready': { status: 409, title: 'It is not ready yet' },
  'in-doubt': { status: 409, title: 'Nobody knows yet what became of a call' },
  'turn-ended': { status: 409, title: 'The turn has ended' },
  unavailable: { status: 503, title: 'Holdpoint cannot answer now' },
  'method-not-allowed': { status: 405, title: 'This address does not take that method' },
  timeout: { status: 408, title: 'The request did not arrive in time' },
  'headers-too-large': { status: 431, title: 'The request has too many or too large headers' },
  internal: { status: 500, title: 'Something went wrong inside Holdpoint' },
};

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

export type ProblemSource = Omit<Refusal, 'reason'> & { readonly reason: ProblemName };

/** RFC 9457, with what the refusal carries beside: `errors`, `winner`, `modelText`, `recorded`, `by`, `at`. */
export interface Problem extends Omit<Refusal, 'reason'> {
  readonly type: `urn:holdpoint:problem:${ProblemName}`;
  readonly title: string;
  readonly status: number;
}

export const problemOf = ({ reason, ...more }: ProblemSource): Problem => ({
  type: `urn:holdpoint:problem:${reason}`,
  ...PROBLEMS[reason],
  ...more,
});

/** A refusal on its way to the client: thrown where a handler cannot go on, turned into a problem document by the filter. */
export class Refused extends Error {
  override readonly name = 'Refused';
  constructor(readonly refusal: ProblemSource) {
    super(refusal.detail);
  }
}

export const refused = (
  reason: ProblemName,
  detail: string,
  more: Omit<ProblemSource, 'reason' | 'detail'> = {},
): Refused => new Refused({ reason, detail, ...more });

export const invalid = (path: string, message: string): Refused =>
  refused('invalid-input', `${path} ${message}`.trim(), { errors: [{ path, message }] });
