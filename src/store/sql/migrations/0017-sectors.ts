import type { Kysely } from 'kysely'
import type { OnlineMigration } from './online.ts'

const columns = [
  ['oauth2server_token', 'sector', 'text'],
  ['oauth2server_token', 'login_digest', 'text'],
  ['oauth2server_consent', 'reused_since', 'bigint'],
] as const

/**
 * Adds the sector of the subject and the digest of the OpenID Connect values to the tokens, and the time since when an
 * ID belongs to the user to the consents.
 */
export const sectors: OnlineMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const [table, column, type] of columns)
      await db.schema.alterTable(table).addColumn(column, type).execute()
  },

  async down(db: Kysely<unknown>): Promise<void> {
    for (const [table, column] of columns)
      await db.schema.alterTable(table).dropColumn(column).execute()
  },
}
