import type { ClientBase } from 'pg';
import { isApprovalId, turnKeyOfApproval, type Tenant } from '#contracts/ids';
import { placeOf } from '#contracts/subjects';
import type { RawFact } from '#event-log/log';
import { textArray } from './array-parameter.js';
import { CHECKPOINT } from './checkpoint.js';
import type { Link } from './links.js';

export interface Place {
  readonly tenant: Tenant;
  readonly id: string;
}

const nameOf = ({ tenant, id }: Place): string => `${tenant}.${id}`;

/** Whose events wait: an approval's wait with its own, and with the request of its turn. */
export class ParkedPlaces {
  private readonly names: Set<string>;

  constructor(places: readonly Place[]) {
    this.names = new Set(places.map(nameOf));
  }

  get none(): boolean {
    return this.names.size === 0;
  }

  has({ tenant, id }: Place): boolean {
    return (
      this.names.has(nameOf({ tenant, id })) ||
      (isApprovalId(id) && this.names.has(nameOf({ tenant, id: turnKeyOfApproval(id) })))
    );
  }

  add(place: Place): void {
    this.names.add(nameOf(place));
  }
}

const withTurns = (id: string): string[] => (isApprovalId(id) ? [id, turnKeyOfApproval(id)] : [id]);

/** Of the places that these facts are about, those with events that wait. */
export async function readParked(client: ClientBase, links: readonly Link[]): Promise<ParkedPlaces> {
  const ids = new Set(links.flatMap(({ raw }) => withTurns(placeOf(raw.subject).id)));
  const found = await client.query<Place>(
    'SELECT DISTINCT tenant, id FROM parked_events WHERE projection = $1 AND id = ANY($2::text[])',
    [CHECKPOINT, textArray([...ids])],
  );
  return new ParkedPlaces(found.rows);
}

export async function park(client: ClientBase, { seq, subject }: RawFact, error: string): Promise<void> {
  const { tenant, id } = placeOf(subject);
  const stored = error.replaceAll('\0', '').slice(0, 2_000);
  await client.query('INSERT INTO parked_events (projection, seq, tenant, id, error) VALUES ($1, $2, $3, $4, $5)', [
    CHECKPOINT,
    seq,
    tenant,
    id,
    stored,
  ]);
}
