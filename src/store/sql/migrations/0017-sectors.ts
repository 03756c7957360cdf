import type { Kysely } from 'kysely'
import type { OnlineMigration } from './online.ts'

const columns = ['sector', 'login_digest']

/** Adds the sector of the subject and the ID of the login to the tokens. */
export const sectors: OnlineMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const column of columns)
      await db.schema.alterTable('oauth2server_token').addColumn(column, 'text').execute()
  },

  async down(db: Kysely<unknown>): Promise<void> {
    for (const column of columns)
      await db.schema.alterTable('oauth2server_token').dropColumn(column).execute()
  },
}
