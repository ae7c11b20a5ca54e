import type { Expr, Expr_Call, Expr_Comprehension } from '@bufbuild/cel-spec/cel/expr/syntax_pb.js';
import { ConditionFailed } from './condition-input.js';
import { compilePattern, isFunction } from './metered.js';

const DEEPEST = 64;
/** Loops over a list of arguments; one within another multiplies, and one over what another gives can too. */
const MOST_LOOPS_DEEP = 1;
/** Parts of a condition that are done again for each item. */
const MOST_IN_LOOPS = 200;

const NAMES: ReadonlySet<string> = new Set(['args', 'tool', 'server', 'agent', 'conversation', 'annotations']);

interface Around {
  readonly depth: number;
  readonly loops: number;
  /** That stand for something here. */
  readonly names: ReadonlySet<string>;
}

/**
 * What is too deep, loops within a loop, or names nothing is refused when it is published, not when a call waits. Gives how
 * many parts of it are done again for each item of a list.
 */
export function partsInLoops(expr: Expr): number {
  const parts = walk(expr, { depth: 0, loops: 0, names: NAMES });
  if (parts > MOST_IN_LOOPS) throw new ConditionFailed(`has more than ${MOST_IN_LOOPS} parts in loops`);
  return parts;
}

function walk(expr: Expr | undefined, around: Around): number {
  if (!expr) return 0;
  if (around.depth > DEEPEST) throw new ConditionFailed(`is nested deeper than ${DEEPEST}`);
  const inner = { ...around, depth: around.depth + 1 };
  const all = (...exprs: readonly (Expr | undefined)[]) =>
    exprs.reduce((sum, one) => sum + walk(one, inner), around.loops);
  const { exprKind } = expr;
  switch (exprKind.case) {
    case 'identExpr':
      if (!around.names.has(exprKind.value.name)) throw new ConditionFailed(unknownName(exprKind.value.name));
      return around.loops;
    case 'selectExpr':
      return all(exprKind.value.operand);
    case 'callExpr':
      refuseCall(exprKind.value);
      return all(exprKind.value.target, ...exprKind.value.args);
    case 'listExpr':
      return all(...exprKind.value.elements);
    case 'structExpr':
      if (exprKind.value.messageName !== '') throw new ConditionFailed(unknownName(exprKind.value.messageName));
      return all(
        ...exprKind.value.entries.flatMap(({ keyKind, value }) => [
          keyKind.case === 'mapKey' ? keyKind.value : undefined,
          value,
        ]),
      );
    case 'comprehensionExpr':
      return walkLoop(exprKind.value, inner);
    default:
      return around.loops;
  }
}

function walkLoop(loop: Expr_Comprehension, around: Around): number {
  const loops = around.loops + 1;
  if (loops > MOST_LOOPS_DEEP) throw new ConditionFailed('has a loop within a loop, or over what a loop gives');
  const names = new Set([...around.names, loop.accuVar, loop.iterVar, loop.iterVar2]);
  walk(loop.accuInit, around);
  walk(loop.iterRange, { ...around, loops });
  walk(loop.result, { ...around, loops, names });
  return walk(loop.loopCondition, { ...around, loops, names }) + walk(loop.loopStep, { ...around, loops, names });
}

/** A pattern that stands in the call could be made to take long; one that stands in the rule is looked at here. */
function refuseCall({ function: name, args: [first] }: Expr_Call): void {
  if (!isFunction(name)) throw new ConditionFailed(`calls "${name}", which there is not`);
  if (name !== 'matches' || !first) return;
  const { exprKind } = first;
  const pattern = exprKind.case === 'constExpr' ? exprKind.value.constantKind : undefined;
  if (pattern?.case !== 'stringValue') throw new ConditionFailed('has a pattern that does not stand in it as text');
  try {
    compilePattern(pattern.value);
  } catch (error) {
    throw new ConditionFailed(`has a pattern that ${reasonOf(error)}`, { cause: error });
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const unknownName = (name: string): string =>
  `speaks of "${name}": there are ${[...NAMES].map((known) => `"${known}"`).join(', ')}`;
