import type { ClientBase, QueryConfig } from 'pg';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import type { Projection } from '#decider/projection';
import type { Policies } from '#policy/in-force';
import { inOrder } from './in-order.js';
import { mergeChanges } from './merge.js';
import { isAboutData, messageOf } from './pg-errors.js';
import { rowStatements } from './write-rows.js';

/** A fact, and the policies that were in force when it was written. */
export interface Placed {
  readonly fact: Recorded<HoldpointEvent>;
  readonly policies: Policies;
}
export type Projections = readonly Projection<Recorded<HoldpointEvent>, Policies>[];

/** A projection that throws on a fact it can read: about that fact alone, as if Postgres had refused its rows. */
class CannotProject extends Error {
  override readonly name = 'CannotProject';
}

export const concernsOneFact = (error: unknown): boolean => error instanceof CannotProject || isAboutData(error);

/** Every projection's rows for these facts. */
export const rowsOf = (projections: Projections, facts: readonly Placed[]): readonly QueryConfig[] =>
  projections.flatMap(({ table, project }) =>
    rowStatements(
      mergeChanges(
        table,
        facts.flatMap((placed) => guarded(project, placed)),
      ),
    ),
  );

export const runAll = (client: ClientBase, statements: readonly QueryConfig[]): Promise<void> =>
  inOrder(statements.map((statement) => () => client.query(statement)));

export const project = async (client: ClientBase, projections: Projections, facts: readonly Placed[]): Promise<void> =>
  runAll(client, rowsOf(projections, facts));

function guarded(changesOf: Projections[number]['project'], { fact, policies }: Placed) {
  try {
    return changesOf(fact, policies);
  } catch (error) {
    throw new CannotProject(messageOf(error), { cause: error });
  }
}
