export const REFUSALS = [
  'another-stream',
  'checkpoint-ahead',
  'log-differs-from-copy',
  'gap',
  'second-fact',
  'unreadable-fact',
  'newer-schema',
] as const;
export type RefusedBecause = (typeof REFUSALS)[number];

/** The log is not what the read model was built from, or holds what this code cannot read: the projector stops, and people look. */
export class ProjectionRefused extends Error {
  override readonly name = 'ProjectionRefused';
  constructor(
    readonly reason: RefusedBecause,
    detail: string,
    options?: ErrorOptions,
  ) {
    super(detail, options);
  }
}

/** Another projector moved the checkpoint: nothing was written, and this one begins again where the other got to. */
export class Fenced extends Error {
  override readonly name = 'Fenced';
}

export type ProjectorState =
  | { readonly is: 'starting' }
  /** Another instance projects. */
  | { readonly is: 'waiting' }
  | { readonly is: 'projecting'; readonly seq: number }
  /** Postgres or the log is away; tried again for ever. */
  | { readonly is: 'paused'; readonly why: string }
  | { readonly is: 'refused'; readonly reason: RefusedBecause; readonly detail: string }
  | { readonly is: 'stopped' };
