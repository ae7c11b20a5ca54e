import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = [
  `ALTER TABLE approvals ADD COLUMN held_until timestamptz`,
  `CREATE TABLE policies (
    tenant text COLLATE "C" NOT NULL, version integer NOT NULL, hash text, rules json, otherwise json, published_at timestamptz,
    published_by text, seq bigint NOT NULL, PRIMARY KEY (tenant, version))`,
  `CREATE INDEX event_log_policies ON event_log (seq) WHERE type = 'PolicyPublished'`,
  `GRANT SELECT ON policies TO holdpoint_read`,
];

export class Policies1700000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE policies');
    await runner.query('DROP INDEX event_log_policies');
    await runner.query('ALTER TABLE approvals DROP COLUMN held_until');
  }
}
