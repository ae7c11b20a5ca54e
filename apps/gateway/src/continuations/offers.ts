import { shortDigest, type Tenant } from '#contracts/ids';
import { mayUsePool } from '#contracts/roles';
import type { Continuation } from '#fold/continuation';
import { refused } from '../http/problem.js';
import { PoolOffers, type OfferServices } from './pool-offers.js';
import { WaitingPull, type PullRequest, type Stray } from './waiting-pull.js';

const POOLS_MAX = 1_000;

/** Offers continuations to the workers that wait for them. It keeps no state but who waits: resume settles who has what. */
export class Offers {
  private readonly pools = new Map<string, PoolOffers>();

  constructor(private readonly services: OfferServices) {
    const endAll = () => this.pools.forEach((pool) => pool.endPulls());
    services.stopping.addEventListener('abort', endAll, { once: true });
  }

  /** Waits until there is at least one, the time is over, or the client has gone. */
  async pull(request: PullRequest): Promise<{ readonly items: readonly Continuation[] }> {
    const { caller, pool, signal } = request;
    if (this.services.stopping.aborted) throw refused('unavailable', 'This gateway is stopping; ask again');
    if (!mayUsePool(caller, pool)) throw refused('forbidden', `This token may not work in the pool ${pool}`);
    this.services.clock();
    const pull = new WaitingPull(request);
    await this.poolOf(caller.tenant, pool).serve(pull);
    if (signal.aborted) for (const given of pull.given) this.offerAgain(caller.tenant, given);
    return { items: pull.given.map(({ continuation }) => continuation) };
  }

  /** Offers it directly, without waiting for the broker to deliver it again. */
  offerAgain(tenant: Tenant, { command, storedAt }: Stray): void {
    this.poolOf(tenant, command.pool).offerAgain({ command, storedAt });
  }

  private poolOf(tenant: Tenant, pool: string): PoolOffers {
    const key = shortDigest('pool', tenant, pool);
    const known = this.pools.get(key);
    if (known) return known;
    if (this.pools.size >= POOLS_MAX) this.forgetAbandoned();
    const made = new PoolOffers(this.services, tenant, pool);
    this.pools.set(key, made);
    return made;
  }

  private forgetAbandoned(): void {
    for (const [key, pool] of this.pools) if (pool.isAbandoned) this.pools.delete(key);
  }
}
