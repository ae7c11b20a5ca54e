import type { ClientBase, QueryConfig } from 'pg';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import type { Projection } from '#decider/projection';
import { inOrder } from './in-order.js';
import { mergeChanges } from './merge.js';
import { isAboutData, messageOf } from './pg-errors.js';
import { rowStatements } from './write-rows.js';

type Facts = readonly Recorded<HoldpointEvent>[];
export type Projections = readonly Projection<Recorded<HoldpointEvent>>[];

/** A projection that throws on a fact it can read: about that fact alone, as if Postgres had refused its rows. */
class CannotProject extends Error {
  override readonly name = 'CannotProject';
}

export const concernsOneFact = (error: unknown): boolean => error instanceof CannotProject || isAboutData(error);

/** Every projection's rows for these facts. */
export const rowsOf = (projections: Projections, facts: Facts): readonly QueryConfig[] =>
  projections.flatMap(({ table, project }) =>
    rowStatements(
      mergeChanges(
        table,
        facts.flatMap((fact) => guarded(project, fact)),
      ),
    ),
  );

export const runAll = (client: ClientBase, statements: readonly QueryConfig[]): Promise<void> =>
  inOrder(statements.map((statement) => () => client.query(statement)));

export const project = async (client: ClientBase, projections: Projections, facts: Facts): Promise<void> =>
  runAll(client, rowsOf(projections, facts));

function guarded(changesOf: Projections[number]['project'], fact: Facts[number]) {
  try {
    return changesOf(fact);
  } catch (error) {
    throw new CannotProject(messageOf(error), { cause: error });
  }
}
