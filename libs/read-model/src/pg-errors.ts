import pg from 'pg';

type DatabaseError = pg.DatabaseError;
const isDatabaseError = (error: unknown): error is DatabaseError => error instanceof pg.DatabaseError;

/** Data that Postgres does not take (22, 23), that is too big for it (54), or that a check of the operator's raises (P0001). */
const DATA = ['22', '23', '54', 'P0'];
/** Connections, resources, operator intervention, system errors; and tables or roles that are not made yet. */
const OUTAGE_CLASSES = ['08', '53', '57', '58', 'XX'];
const NOT_MADE_YET = ['42P01', '42703', '3D000', '42704'];

/** The event is the cause: the same again would fail again. */
export const isAboutData = (error: unknown): boolean =>
  isDatabaseError(error) && DATA.includes((error.code ?? '').slice(0, 2));

export const violates = (error: unknown, constraint: string): error is DatabaseError =>
  isDatabaseError(error) && error.code === '23505' && error.constraint === constraint;

/** Not this query's fault: the same may work later. What is no answer of Postgres is a broken connection or a time-out. */
export const isOutage = (error: unknown): boolean =>
  !isDatabaseError(error) ||
  OUTAGE_CLASSES.includes((error.code ?? '').slice(0, 2)) ||
  NOT_MADE_YET.includes(error.code ?? '');

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
