import { createHash } from 'node:crypto';
import pg from 'pg';
import { eventually } from '../../support/world.js';
import { canonical } from '../canonical.js';
import type { Message } from './read-log.js';
import { dataOf, type CallFacts, type GrantFacts, type LogStory, type TurnFacts } from './story-of-log.js';
import type { Report } from './violation.js';

type Row = Readonly<Record<string, any>>;

/** Postgres against the log: the copy byte for byte with its chain, and the rows against a fold of the checker's own. */
export async function checkReadModel(
  { databaseUrl, levelWithinMs = 60_000 }: { readonly databaseUrl: string; readonly levelWithinMs?: number },
  story: LogStory,
  report: Report,
): Promise<void> {
  const client = await eventually(() => connected(databaseUrl));
  try {
    if (!(await isLevel(client, { last: story.events.length, withinMs: levelWithinMs }, report))) return;
    await checkCopy(client, story.events, report);
    await checkRows(client, story, report);
    const parked = await client.query<Row>('SELECT id, error FROM parked_events');
    for (const { id, error } of parked.rows) report('I3', String(id), `it is parked: ${error}`);
  } finally {
    await client.end();
  }
}

async function connected(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** The read model comes to the log's end in time; it never is ahead of it. */
async function isLevel(
  client: pg.Client,
  { last, withinMs }: { readonly last: number; readonly withinMs: number },
  report: Report,
): Promise<boolean> {
  const at = async () =>
    Number((await client.query<Row>('SELECT last_seq FROM projection_checkpoint')).rows[0]?.['last_seq'] ?? 0);
  try {
    await eventually(async () => {
      if ((await at()) < last) throw new Error('behind');
    }, withinMs);
    return true;
  } catch (error) {
    const why = error instanceof Error && error.message !== 'behind' ? `: ${error.message}` : '';
    report(
      'I6',
      'read model',
      `it is at ${await at()} and the log at ${last}, ${withinMs} ms after everything stopped${why}`,
    );
    return false;
  }
}

const A_PAGE = 2_000;

async function checkCopy(client: pg.Client, events: readonly Message[], report: Report): Promise<void> {
  let previous: Buffer = Buffer.alloc(32);
  for (let from = 0; from < events.length; from += A_PAGE) {
    const page = events.slice(from, from + A_PAGE);
    const { rows } = await client.query<Row>(
      'SELECT seq, subject, headers, data, stored_at, hash FROM event_log WHERE seq > $1 AND seq <= $2 ORDER BY seq',
      [from, from + page.length],
    );
    const bySeq = new Map(rows.map((row) => [Number(row['seq']), row]));
    for (const message of page) {
      previous = linkOf(previous, message);
      checkCopied(message, bySeq.get(message.seq), { hash: previous, report });
    }
  }
  const { rows } = await client.query<Row>('SELECT last_seq, chain FROM projection_checkpoint');
  if (rows.length !== 1 || !previous.equals(rows[0]?.['chain'] as Buffer))
    report('I7', 'checkpoint', 'its link is not that of the log');
}

/** The log's time of a message, cut to the milliseconds that the read model keeps. */
const storedAt = ({ time }: Message): string => new Date(Math.floor(Date.parse(time))).toISOString();

function linkOf(previous: Buffer, message: Message): Buffer {
  const { seq, subject, headers, data } = message;
  const frame = canonical({ seq, subject, headers, storedAt: storedAt(message) });
  const leaf = createHash('sha256').update(frame).update('\n').update(data).digest();
  return createHash('sha256').update(previous).update(leaf).digest();
}

function checkCopied(
  message: Message,
  row: Row | undefined,
  { hash, report }: { readonly hash: Buffer; readonly report: Report },
): void {
  if (!row) return report('I7', message.subject, `the copy does not have fact ${message.seq}`);
  const { subject, headers, data, stored_at } = row;
  const isSame =
    subject === message.subject &&
    headers === canonical(message.headers) &&
    message.data.equals(data as Buffer) &&
    (stored_at as Date).toISOString() === storedAt(message);
  if (!isSame) report('I7', message.subject, `the copy of fact ${message.seq} is not what the log has`);
  if (!hash.equals(row['hash'] as Buffer)) report('I7', message.subject, `the chain breaks at fact ${message.seq}`);
}

async function checkRows(client: pg.Client, story: LogStory, report: Report): Promise<void> {
  const approvals = [...story.calls.values()].map(approvalRow);
  const turns = [...story.turns.values()].map(turnRow);
  await compare(client, { table: 'approvals', key: 'approval_id', rows: approvals }, report);
  await compare(client, { table: 'turns', key: 'turn_key', rows: turns }, report);
  const grants = [...story.grants.values()].map(grantRow);
  await compare(client, { table: 'grants', key: 'grant_id', rows: grants }, report);
  const due = [...story.calls.values()].flatMap(dueOf).sort();
  const found = await client.query<Row>('SELECT approval_id, what FROM due');
  const there = found.rows.map(({ approval_id, what }) => `${approval_id} ${what}`).sort();
  if (canonical(due) !== canonical(there)) report('I3', 'due', `${there.length} deadlines are kept, ${due.length} run`);
  const tokens = await client.query<Row>('SELECT token_id, revoked_at FROM tokens');
  for (const [tokenId, facts] of story.tokens) {
    const row = tokens.rows.find((one) => one['token_id'] === tokenId);
    if (!row || (row['revoked_at'] !== null) !== facts.some(({ type }) => type === 'TokenRevoked'))
      report('I3', tokenId, 'its row is not as the log has it');
  }
}

interface Expected {
  readonly table: string;
  readonly key: string;
  readonly rows: readonly Row[];
}

async function compare(client: pg.Client, { table, key, rows }: Expected, report: Report): Promise<void> {
  const found = await client.query<Row>(`SELECT * FROM ${table}`);
  const byKey = new Map(found.rows.map((row) => [String(row[key]), row]));
  if (found.rows.length !== rows.length)
    report('I3', table, `it has ${found.rows.length} rows, and the log tells of ${rows.length}`);
  for (const expected of rows) {
    const row = byKey.get(String(expected[key]));
    const different = Object.entries(expected).filter(
      ([name, value]) => canonical(plain(row?.[name])) !== canonical(value),
    );
    for (const [name, value] of different)
      report(
        'I3',
        String(expected[key]),
        `${name} is ${canonical(plain(row?.[name]))}, and the log tells ${canonical(value)}`,
      );
  }
}

/** Numbers beyond 32 bits come as text, instants as dates. */
const plain = (value: unknown): unknown =>
  value instanceof Date
    ? value.toISOString()
    : typeof value === 'string' && /^\d{1,15}$/.test(value)
      ? Number(value)
      : (value ?? null);

function approvalRow(call: CallFacts): Row {
  const { approvalId, turn, index } = call;
  const [decision] = call.decisions;
  const [use] = call.uses;
  const [outcome] = call.outcomes;
  const facts = [turn.request, ...call.decisions, ...call.uses, ...call.outcomes, ...call.leases];
  const started = use?.type === 'ToolExecutionStarted' ? dataOf(use) : undefined;
  return {
    approval_id: approvalId,
    turn_key: turn.turnKey,
    call_index: index,
    args: call.call.args,
    args_digest: call.call.argsDigest,
    decision: decision ? dataOf(decision).decision : null,
    decided_by: decision?.body.actor.id ?? null,
    grant_id: decision ? (dataOf(decision).grant?.grantId ?? null) : null,
    decided_at: decision?.body.occurredAt ?? null,
    decision_seq: decision?.seq ?? null,
    edited_args: decision ? (dataOf(decision).editedArgs ?? null) : null,
    use_is: use ? USES[use.type] : null,
    use_attempt: started?.attempt ?? null,
    use_worker_id: started?.workerId ?? null,
    outcome_ok: outcome ? outcome.type === 'ToolExecutionSucceeded' : null,
    outcome_settled: outcome ? dataOf(outcome).settledBecause !== undefined : null,
    ...leaseOf(call.leases),
    seq: Math.max(...facts.map(({ seq }) => seq)),
  };
}

const USES: Readonly<Record<string, string>> = {
  ToolExecutionStarted: 'started',
  ToolApprovalRevoked: 'revoked',
  ToolApprovalLapsed: 'lapsed',
};

function turnRow({ turnKey, data, request, leases, ends, calls }: TurnFacts): Row {
  const [end] = ends;
  return {
    turn_key: turnKey,
    conversation_id: data.conversationId,
    turn_id: data.turnId,
    release: data.release,
    pool: data.pool,
    calls: calls.length,
    ended_as: end ? dataOf(end).status : null,
    superseded_by: end ? (dataOf(end).supersededBy ?? null) : null,
    ...leaseOf(leases),
    seq: Math.max(...[request, ...leases, ...ends].map(({ seq }) => seq)),
  };
}

function grantRow({ grantId, issued, redeemed, ends }: GrantFacts): Row {
  const { scope, maxUses } = dataOf(issued);
  return {
    grant_id: grantId,
    tool: scope.tool,
    server: scope.server ?? null,
    agent: scope.agent ?? null,
    conversation_id: scope.conversationId ?? null,
    max_uses: maxUses,
    used: redeemed.length,
    issued_by: issued.body.actor.id,
    issued_seq: issued.seq,
    ended_by: ends[0]?.body.actor.id ?? null,
    seq: Math.max(...[issued, ...redeemed, ...ends].map(({ seq }) => seq)),
  };
}

function leaseOf(leases: readonly Message[]): Row {
  const last = leases.at(-1);
  if (!last) return { lease_state: null, lease_attempt: null, lease_worker_id: null };
  const { attempt, workerId } = dataOf(last);
  const state = last.type === 'LeaseGivenBack' ? 'given-back' : 'taken';
  return { lease_state: state, lease_attempt: attempt, lease_worker_id: workerId };
}

function dueOf({ approvalId, decisions: [decision], uses }: CallFacts): string[] {
  if (!decision) return [`${approvalId} expiry`];
  return dataOf(decision).decision === 'approved' && uses.length === 0 ? [`${approvalId} lapse`] : [];
}
