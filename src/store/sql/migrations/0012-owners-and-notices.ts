import { type Kysely, sql } from 'kysely'
import type { OnlineMigration } from './online.ts'

/**
 * Stores the owner of a short-lived value, so that the number of values of each owner has a bound. Stores the logouts of
 * which clients must be notified, so that a restart loses no notice.
 */
export const ownersAndNotices: OnlineMigration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('oauth2server_transient').addColumn('owner', 'text').execute()
    await db.schema
      .createIndex('oauth2server_transient_by_owner')
      .on('oauth2server_transient')
      // With the key, the index alone finds the values to remove.
      .columns(['owner', 'expires_at', 'key'])
      .where(sql.ref('owner'), 'is not', null)
      .execute()
    await db.schema
      .createTable('oauth2server_logout_notice')
      .addColumn('id', 'text', (c) => c.primaryKey().notNull())
      .addColumn('client_key', 'bigint', (c) => c.notNull())
      .addColumn('user_id', 'text', (c) => c.notNull())
      .addColumn('sid', 'text', (c) => c.notNull())
      .addColumn('attempts', 'integer', (c) => c.notNull())
      .addColumn('due_at', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull())
      .execute()
    for (const column of ['due_at', 'user_id', 'expires_at'])
      await db.schema
        .createIndex(`oauth2server_logout_notice_by_${column}`)
        .on('oauth2server_logout_notice')
        .column(column)
        .execute()
  },
  async down(db: Kysely<unknown>) {
    await db.schema.dropTable('oauth2server_logout_notice').execute()
    await db.schema.dropIndex('oauth2server_transient_by_owner').execute()
    await db.schema.alterTable('oauth2server_transient').dropColumn('owner').execute()
  },
}
