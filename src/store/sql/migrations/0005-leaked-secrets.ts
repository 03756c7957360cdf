import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** A former client secret is found by its digest, as the current one is. */
export const leakedSecrets: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // Few clients have one, so the others cost nothing.
    await db.schema
      .createIndex('oauth2server_client_by_previous_secret')
      .on('oauth2server_client')
      .column('previous_client_secret')
      .where('previous_client_secret', 'is not', null)
      .execute()
  },

  async down(db: Kysely<unknown>): Promise<void> {
    await db.schema.dropIndex('oauth2server_client_by_previous_secret').execute()
  },
}
