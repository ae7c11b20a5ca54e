/** Short, so that attempts end and are followed by others while a scenario runs. */
export const LEASE_SECONDS = 4;

/** Between reading and writing a service may stand still for that long, besides being made to: the checker excuses it. */
export const STANDSTILL_MS = 3_000;
