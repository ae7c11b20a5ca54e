import { setTimeout as sleep } from 'node:timers/promises';
import type { Tenant, TurnKey } from '#contracts/ids';
import { readWholeTurn, type FactReader } from '#fold/read';
import { offerDue, type DueServices } from './offer-due.js';

export interface ReadyTurn {
  readonly tenant: Tenant;
  readonly turnKey: TurnKey;
}

export interface ReadyPage {
  readonly olderThanSeconds: number;
  readonly after: string;
  readonly limit: number;
}

export interface Reconciling extends DueServices {
  readonly events: FactReader;
  /** From the read model, a page after a turn key: decided, not ended, no lease alive. */
  readonly readyTurnKeys: (page: ReadyPage) => Promise<readonly ReadyTurn[]>;
  readonly report: (error: unknown, what: string) => void;
}

const EVERY_MS = 10_000;
const OLDER_THAN_SECONDS = 5;
const PATIENCE_MS = 15_000;
const AT_ONCE = 500;

/** Decided but not resumed is never a silence: every gateway looks every 10 s, for ever (design 4.12). */
export async function reconcileUntil(services: Reconciling, signal: AbortSignal): Promise<void> {
  let after = '';
  while (!signal.aborted) {
    after = await reconcileOnce(services, after, signal).catch((error: unknown) => {
      services.report(error, 'reconcile');
      return '';
    });
    await sleep(EVERY_MS * (0.9 + Math.random() * 0.2), undefined, { signal }).catch(() => undefined);
  }
}

/**
 * One page, and where the next begins: however many wait, each has its turn. With Postgres down nothing is found, and the
 * next time comes soon; one bad turn does not keep the others waiting.
 */
export async function reconcileOnce(services: Reconciling, after: string, signal: AbortSignal): Promise<string> {
  const page = await services.readyTurnKeys({ olderThanSeconds: OLDER_THAN_SECONDS, after, limit: AT_ONCE });
  for (const { tenant, turnKey } of page) {
    if (signal.aborted) return '';
    await reconcileTurn(services, tenant, turnKey).catch((error: unknown) => services.report(error, 'reconcile turn'));
  }
  return page.length < AT_ONCE ? '' : (page.at(-1)?.turnKey ?? '');
}

async function reconcileTurn(services: Reconciling, tenant: Tenant, turnKey: TurnKey): Promise<void> {
  const whole = await readWholeTurn(services.events, tenant, turnKey);
  if (whole) await offerDue(services, { ...whole, tenant, foundBy: 'reconciler', patienceMs: PATIENCE_MS });
}
