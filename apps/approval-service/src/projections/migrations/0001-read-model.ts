import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Ids compare byte by byte, whatever language the database was made in. */
const ID = 'text COLLATE "C"';

const LEASE = `lease_state text, lease_attempt integer, lease_worker_id text, lease_since timestamptz, lease_until timestamptz`;

/**
 * Columns that facts set are nullable: a fact may find no row where the one before it is parked.
 * JSON is `json`, never `jsonb`: it keeps `\u0000` as it was sent.
 */
const TABLES = [
  `CREATE TABLE turns (
    tenant ${ID} NOT NULL, turn_key ${ID} NOT NULL, conversation_id ${ID}, turn_id ${ID}, agent text, on_behalf_of text,
    owner text, release text, pool ${ID}, calls integer, supersedes ${ID}, requested_at timestamptz, requested_by text,
    request_seq bigint, ${LEASE}, ended_as text, ended_at timestamptz, ended_by text, end_reason json,
    superseded_by ${ID}, seq bigint NOT NULL, PRIMARY KEY (tenant, turn_key))`,
  `CREATE TABLE approvals (
    tenant ${ID} NOT NULL, approval_id ${ID} NOT NULL, turn_key ${ID}, call_index integer, conversation_id ${ID},
    turn_id ${ID}, tool_call_id text, tool_name text, server text, agent text, release text, pool ${ID}, args json,
    args_digest text, description json, search text, requested_at timestamptz, requested_by text, request_seq bigint,
    expires_at timestamptz, decision text, decided_at timestamptz, decided_by text, decided_by_kind text,
    decision_reason json, decision_seq bigint, edited_args json, use_is text, used_at timestamptz, used_by text,
    use_attempt integer, use_worker_id text, revoke_reason json, outcome_ok boolean, outcome_at timestamptz,
    outcome_by text, outcome_settled boolean, duration_ms integer, ${LEASE}, seq bigint NOT NULL,
    PRIMARY KEY (tenant, approval_id))`,
  `CREATE TABLE due (
    tenant ${ID} NOT NULL, approval_id ${ID} NOT NULL, what text NOT NULL, at timestamptz NOT NULL, seq bigint NOT NULL,
    PRIMARY KEY (tenant, approval_id, what))`,
  `CREATE TABLE tokens (
    tenant ${ID} NOT NULL, token_id ${ID} NOT NULL, name text, subject text, roles json, groups json, agent text,
    owner text, servers json, pools json, expires_at timestamptz, issued_at timestamptz, issued_by text,
    revoked_at timestamptz, revoked_by text, seq bigint NOT NULL, PRIMARY KEY (tenant, token_id))`,
  `CREATE TABLE attempts (
    tenant ${ID} NOT NULL, lease_key ${ID} NOT NULL, attempt integer NOT NULL, turn_key ${ID}, worker_id text,
    token_id ${ID}, since timestamptz, lease_until timestamptz, given_back_at timestamptz, seq bigint NOT NULL,
    PRIMARY KEY (tenant, lease_key, attempt))`,
  `CREATE TABLE event_log (
    seq bigint PRIMARY KEY, subject ${ID} NOT NULL CONSTRAINT event_log_one_fact_a_subject UNIQUE, headers text NOT NULL,
    data bytea NOT NULL, stored_at timestamptz NOT NULL, tenant ${ID} NOT NULL, id ${ID} NOT NULL, type text NOT NULL,
    correlation_id text NOT NULL, hash bytea NOT NULL)`,
  `CREATE TABLE projection_checkpoint (
    name text PRIMARY KEY, schema_version integer NOT NULL, stream_created_at timestamptz NOT NULL,
    last_seq bigint NOT NULL, chain bytea NOT NULL)`,
  `CREATE TABLE parked_events (
    projection text NOT NULL, seq bigint NOT NULL, tenant ${ID} NOT NULL, id ${ID} NOT NULL, error text NOT NULL,
    PRIMARY KEY (projection, seq))`,
];

/** What is open is little beside what is closed: lists of it look at nothing else. */
const INDEXES = [
  `CREATE INDEX approvals_in_order ON approvals (tenant, requested_at, turn_key, call_index)`,
  `CREATE INDEX approvals_undecided ON approvals (tenant, requested_at, turn_key, call_index) WHERE decision IS NULL`,
  `CREATE INDEX approvals_undecided_of_turn ON approvals (tenant, turn_key) WHERE decision IS NULL`,
  `CREATE INDEX approvals_decided_as ON approvals (tenant, decision, requested_at, turn_key, call_index)
    WHERE decision IS NOT NULL AND use_is IS NULL`,
  `CREATE INDEX approvals_begun ON approvals (tenant, requested_at, turn_key, call_index)
    WHERE use_is = 'started' AND outcome_ok IS NULL`,
  `CREATE INDEX approvals_of_turn ON approvals (tenant, turn_key)`,
  `CREATE INDEX approvals_decided ON approvals (tenant, decided_at) WHERE decided_at IS NOT NULL`,
  `CREATE INDEX turns_open ON turns (tenant, turn_key) WHERE ended_as IS NULL`,
  `CREATE INDEX turns_in_order ON turns (tenant, requested_at, turn_key)`,
  `CREATE INDEX due_at ON due (at)`,
  `CREATE INDEX parked_by_id ON parked_events (tenant, id)`,
];

/** Another database of the same server may be making the role just now. A superuser needs no membership. */
const READER = `DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'holdpoint_read') THEN
      BEGIN
        CREATE ROLE holdpoint_read NOLOGIN;
      EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
      END;
    END IF;
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
      GRANT holdpoint_read TO CURRENT_USER;
    END IF;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO holdpoint_read', current_schema());
  END $$`;

/** Not the bodies of the log's copy: a token's hash stands there. */
const READS = [
  `GRANT SELECT ON turns, approvals, due, tokens, attempts, projection_checkpoint, parked_events TO holdpoint_read`,
  `GRANT SELECT (seq, subject, stored_at, tenant, id, type, correlation_id, hash) ON event_log TO holdpoint_read`,
];

export class ReadModel1700000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...TABLES, ...INDEXES, READER, ...READS]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'DROP TABLE turns, approvals, due, tokens, attempts, event_log, projection_checkpoint, parked_events',
    );
  }
}
