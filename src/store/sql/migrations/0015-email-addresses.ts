import { type Kysely, sql } from 'kysely'
import type { UserReference } from '../handle.ts'
import { isIrregularEmail } from '../irregular-email.ts'
import { createIndexOnline, type OnlineMigration } from './online.ts'

/**
 * Notes that e-mail addresses are not in normal form. The seal of a user covers the address, so the server normalizes
 * the addresses at its next start, with the secret key.
 */
export const emailAddresses = ({ users, types }: UserReference): OnlineMigration => ({
  async up(db: Kysely<unknown>): Promise<void> {
    if (users !== 'built-in') return
    const isPostgres = types.id !== 'integer'
    await sql`insert into oauth2server_sweeper_note (kind, key, at)
      select 'email addresses', '', 0
      where exists (select 1 from oauth2server_user where ${isIrregularEmail(isPostgres)})`.execute(
      db,
    )
  },
  // Leak reports search for registration tokens.
  async online(db: Kysely<unknown>): Promise<void> {
    await createIndexOnline(db, {
      name: 'oauth2server_client_by_registration_token',
      table: 'oauth2server_client',
      columns: ['registration_token'],
    })
  },
  async down(db: Kysely<unknown>): Promise<void> {
    await db.schema.dropIndex('oauth2server_client_by_registration_token').ifExists().execute()
    await sql`delete from oauth2server_sweeper_note where kind = 'email addresses'`.execute(db)
  },
})
