import { type Kysely, sql } from 'kysely'
import type { OnlineMigration } from './online.ts'

/** Stores the owner of a short-lived value, so that the number of values of each owner has a bound. */
export const transientOwners: OnlineMigration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('oauth2server_transient').addColumn('owner', 'text').execute()
    await db.schema
      .createIndex('oauth2server_transient_by_owner')
      .on('oauth2server_transient')
      .columns(['owner', 'expires_at'])
      .where(sql.ref('owner'), 'is not', null)
      .execute()
  },
  async down(db: Kysely<unknown>) {
    await db.schema.dropIndex('oauth2server_transient_by_owner').execute()
    await db.schema.alterTable('oauth2server_transient').dropColumn('owner').execute()
  },
}
