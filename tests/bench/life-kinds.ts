type DecisionKind = 'approved' | 'denied' | 'expired' | 'cancelled';
/** What happens to a turn from its opening to its end. */
export interface Kind {
  readonly name: string;
  readonly release: 'all' | 'each';
  readonly decisions: readonly DecisionKind[];
  readonly edited?: true;
}
const one = (name: string, decision: DecisionKind, more = {}): Kind => ({
  name,
  release: 'all',
  decisions: [decision],
  ...more,
});
const EXECUTED = one('one call', 'approved');
const THREE: Kind = { name: 'three calls', release: 'all', decisions: ['approved', 'approved', 'denied'] };
const EACH: Kind = { name: 'each of two', release: 'each', decisions: ['approved', 'approved'] };
/** Of twenty turns: what an agent's day is taken to be (docs/scale.md). 26 approvals. */
const DAY: readonly Kind[] = [
  ...Array.from({ length: 11 }, () => EXECUTED),
  ...[THREE, THREE, EACH, EACH],
  one('edited', 'approved', { edited: true }),
  ...[one('denied', 'denied'), one('denied', 'denied'), one('expired', 'expired'), one('cancelled', 'cancelled')],
];

export const kindOf = (turn: number): Kind => DAY[turn % DAY.length] ?? EXECUTED;
