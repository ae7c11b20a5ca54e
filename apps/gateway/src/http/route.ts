import type { Role } from '#contracts/tokens/events';

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** As OpenAPI writes it: `{name}` for a parameter. */
  readonly path: `/${string}`;
  readonly summary: string;
  /** Who may call; `[]` is whoever has a good token, `open` whoever comes. The admin has every role. */
  readonly roles: readonly Role[] | 'open';
  readonly body?: new () => object;
  readonly query?: new () => object;
  /** 200 where not said. */
  readonly success?: 201;
  /** Answers with server-sent events. */
  readonly stream?: true;
}

export const AGENT = ['agent'] as const;
export const APPROVER = ['approver'] as const;
export const READERS = ['approver', 'operator', 'auditor'] as const;
export const EVERYBODY = ['agent', 'approver', 'operator', 'auditor'] as const;
