import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { UserReference } from '../handle.ts'
import { isIrregularEmail } from '../irregular-email.ts'

/**
 * Notes that e-mail addresses are not in normal form. The seal of a user covers the address, so the server normalizes
 * the addresses at its next start, with the secret key.
 */
export const emailAddresses = ({ users, types }: UserReference): Migration => ({
  async up(db: Kysely<unknown>): Promise<void> {
    if (users !== 'built-in') return
    const isPostgres = types.id !== 'integer'
    await sql`insert into oauth2server_sweeper_note (kind, key, at)
      select 'email addresses', '', 0
      where exists (select 1 from oauth2server_user where ${isIrregularEmail(isPostgres)})`.execute(
      db,
    )
  },
  async down(db: Kysely<unknown>): Promise<void> {
    await sql`delete from oauth2server_sweeper_note where kind = 'email addresses'`.execute(db)
  },
})
