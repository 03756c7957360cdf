import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Everything that changes who may do what is recorded now. Additive: the version before runs on beside it. */
export const auditLog: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const add = (
      column: string,
      type: 'text' | 'bigint' | 'integer',
      otherwise?: string | number,
    ) =>
      db.schema
        .alterTable('oauth2server_audit')
        .addColumn(column, type, (c) =>
          otherwise === undefined ? c : c.notNull().defaultTo(otherwise),
        )
        .execute()

    await add('actor', 'text', 'user')
    await add('user_id', 'text')
    await add('user_email', 'text')
    await add('authorization_id', 'bigint')
    await add('user_agent', 'text', '')
    await add('request_id', 'text')
    await add('is_routine', 'integer', 0)
    await add('details', 'text', '{}')

    for (const [name, columns] of Object.entries(lists)) {
      await db.schema
        .createIndex(`oauth2server_audit_by_${name}`)
        .on('oauth2server_audit')
        .columns(columns)
        .execute()
    }
    // What users see of themselves is seldom; what programs do for them is not.
    await db.schema
      .createIndex('oauth2server_audit_of_person')
      .on('oauth2server_audit')
      .columns(['user_id', 'at', 'id'])
      .where(sql<boolean>`is_routine = 0`)
      .execute()
  },

  async down(db: Kysely<unknown>): Promise<void> {
    await db.schema.dropIndex('oauth2server_audit_of_person').execute()
    for (const name of Object.keys(lists))
      await db.schema.dropIndex(`oauth2server_audit_by_${name}`).execute()
    for (const column of added)
      await db.schema.alterTable('oauth2server_audit').dropColumn(column).execute()
  },
}

/** Every list has an index in its own order, so that a part of it costs the same wherever it begins. */
const lists: Readonly<Record<string, string[]>> = {
  time: ['at', 'id'],
  event: ['event', 'at', 'id'],
  user: ['user_id', 'at', 'id'],
  client: ['client_id', 'at', 'id'],
}

const added = [
  'actor',
  'user_id',
  'user_email',
  'authorization_id',
  'user_agent',
  'request_id',
  'is_routine',
  'details',
]
