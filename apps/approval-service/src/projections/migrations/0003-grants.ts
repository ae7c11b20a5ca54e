import type { MigrationInterface, QueryRunner } from 'typeorm';

const ID = `text COLLATE "C"`;

const UP = [
  `ALTER TABLE approvals ADD COLUMN grant_id ${ID}`,
  `CREATE INDEX approvals_denied_calls ON approvals (tenant, conversation_id, args_digest) WHERE decision = 'denied'`,
  `CREATE TABLE grants (
    tenant ${ID} NOT NULL, grant_id ${ID} NOT NULL, tool text, server text, agent text, conversation_id ${ID}, condition json,
    schema_digest text, approval_id ${ID}, expires_at timestamptz, max_uses integer, used integer, issued_at timestamptz,
    issued_by text, issued_seq bigint, ended_at timestamptz, ended_by text, end_reason json, seq bigint NOT NULL,
    PRIMARY KEY (tenant, grant_id))`,
  `CREATE INDEX grants_of_tool ON grants (tenant, tool, issued_seq)`,
  `CREATE INDEX grants_in_order ON grants (tenant, issued_at, grant_id)`,
  `GRANT SELECT ON grants TO holdpoint_read`,
];

export class Grants1700000000003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE grants');
    await runner.query('DROP INDEX approvals_denied_calls');
    await runner.query('ALTER TABLE approvals DROP COLUMN grant_id');
  }
}
