/**
 * What the campaign holds Holdpoint to.
 * I1 one terminal decision, one continuation of each kind, one run · I2 what was acknowledged is in the log · I3 the read
 * model is the log's fold · I4 each continuation is due, and each that is due is there · I5 only what was approved runs, by
 * whom it may · I6 nothing is stuck · I7 the log is whole and its copy's chain verifies.
 */
export type Invariant = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7';

export interface Violation {
  readonly invariant: Invariant;
  readonly what: string;
  /** The approval, turn, lease, subject or sequence that it is about. */
  readonly subject: string;
}

export type Report = (invariant: Invariant, subject: string, what: string) => void;
