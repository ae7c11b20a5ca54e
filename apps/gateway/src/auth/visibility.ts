import { hasRole, type Caller } from '#contracts/roles';
import { isAgentOf } from '#fold/permission';
import type { KnownTurn } from '#fold/turn';
import { refused } from '../http/problem.js';

/** An agent sees what its own agent asked for in its own pools; the other roles see their tenant. */
export function checkMaySee(caller: Caller, turn: KnownTurn): void {
  if (hasRole(caller, 'approver', 'operator', 'auditor') || isAgentOf(caller, turn)) return;
  throw refused('forbidden', 'This belongs to another agent or pool');
}

/** Operators read all but arguments, and whatever else a tool was given or gave. */
export const maySeeArguments = (caller: Caller, turn: KnownTurn): boolean =>
  hasRole(caller, 'approver', 'auditor') || isAgentOf(caller, turn);

const ARGUMENTS = new Set(['args', 'editedArgs', 'context', 'result', 'error', 'response', 'description']);

/** A copy without arguments, context and results, however deep they stand. */
export function withoutArguments<T>(value: T): T {
  return strip(value) as T;
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (ARGUMENTS.has(key) ? [] : [[key, strip(inner)]])),
  );
}
