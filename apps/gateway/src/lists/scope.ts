import type { Values } from './page.js';

/** What an agent's token may see: its own agent's turns, in its own pools. One that names none: any. */
export interface AgentScope {
  readonly agent?: string | undefined;
  readonly pools?: readonly string[] | undefined;
}

export const scopeSql = (table: 'a' | 't', scope: AgentScope | undefined, { next }: Values): string[] => [
  ...(scope?.agent === undefined ? [] : [`${table}.agent = ${next(scope.agent)}`]),
  ...(scope?.pools === undefined ? [] : [`${table}.pool = ANY(${next(scope.pools)}::text[])`]),
];
