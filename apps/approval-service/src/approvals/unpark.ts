import type { Tenant } from '#contracts/ids';
import { refusal } from '#contracts/refusals';
import { declined, reply, type Done, type Reply } from '#contracts/rpc';
import { Unavailable } from '#decider/unavailable';
import { concernsOneFact } from '#read-model/project';
import type { Unparked } from '#read-model/unpark';

export type Unpark = (tenant: Tenant, id: string) => Promise<Unparked>;

/** Applies again what the read model could not apply; where it still cannot, nothing of it is applied. */
export async function unparkApproval(unpark: Unpark, tenant: Tenant, id: string): Promise<Reply<Done>> {
  try {
    const { applied, seq } = await unpark(tenant, id);
    return applied === 0
      ? declined(refusal('not-found', 'Nothing is parked under this id'))
      : reply({ seq, recorded: true });
  } catch (error) {
    if (concernsOneFact(error)) return declined(refusal('conflict', 'It still cannot be applied, and stays parked'));
    throw new Unavailable('The read model does not answer', { cause: error });
  }
}
