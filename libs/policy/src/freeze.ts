import type { ToolApprovalRequested } from '#contracts/turns/events';
import type { Freeze, Freezes } from '#fold/freezes';
import { matches } from './pattern.js';

/**
 * What holds a call of this tool back, if anything does. Names are patterns as in a rule, so that no `pay_*` is switched on in
 * vain; and an agent is held together with those that work for it.
 */
export const freezeOf = (
  { on }: Freezes,
  tool: string,
  { id, path = [] }: ToolApprovalRequested['agent'],
): Freeze | undefined =>
  on.find(
    (freeze) =>
      (freeze.tool === undefined || matches(freeze.tool, tool)) &&
      (freeze.agent === undefined || [id, ...path].some((name) => matches(freeze.agent ?? '', name))),
  );
