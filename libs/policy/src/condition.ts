import { isCelError, parse, plan, type CelInput } from '@bufbuild/cel';
import { ConditionFailed, preparedFrom, type ConditionInput } from './condition-input.js';
import { partsInLoops } from './costly.js';
import { ENVIRONMENT, metered } from './metered.js';

/** Bytes of a condition's text; parsing a longer one takes seconds. */
const LONGEST_SOURCE = 4_096;

/** Says yes or no; throws `ConditionFailed` where it can say neither. */
export type Condition = (input: ConditionInput) => boolean;

/** Compiles a CEL condition; throws `ConditionFailed` for one that is not valid or could cost more than is sane. */
export function compileCondition(source: string): Condition {
  if (Buffer.byteLength(source) > LONGEST_SOURCE) throw new ConditionFailed(`is longer than ${LONGEST_SOURCE} bytes`);
  const { run, parts } = orFailed(() => planned(source));
  return (input) => {
    const prepared = preparedFrom(input);
    const result = orFailed(() => metered(prepared, parts, () => run(prepared.variables)));
    if (isCelError(result)) throw new ConditionFailed(result.message);
    if (typeof result !== 'boolean') throw new ConditionFailed('gives no boolean');
    return result;
  };
}

interface Planned {
  readonly run: (variables: Record<string, CelInput>) => unknown;
  /** Of it that are done again for each item of a list. */
  readonly parts: number;
}

function planned(source: string): Planned {
  const { expr } = parse(source);
  if (!expr) throw new ConditionFailed('is empty');
  const parts = partsInLoops(expr);
  return { run: plan(ENVIRONMENT, expr), parts };
}

function orFailed<Value>(run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    if (error instanceof ConditionFailed) throw error;
    throw new ConditionFailed(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
