// @ts-check

/** Makes the read model's tables before the services look for them; where Postgres is away, they come later by themselves.
 * @param {string} databaseUrl */
export async function migrateReadModel(databaseUrl) {
  const [{ migrate }, { MIGRATIONS }] = await Promise.all([
    import(new URL('../../dist/libs/read-model/src/migrate.js', import.meta.url).href),
    import(new URL('../../dist/apps/approval-service/src/projections/projections.js', import.meta.url).href),
  ]);
  await migrate({ databaseUrl, migrations: MIGRATIONS });
}
