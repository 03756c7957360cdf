import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { counting } from './0001-initial.ts'
import type { UserReference } from './all.ts'

/** What the settings pages show and change. Additive: the version before runs on beside it. */
export const settingsPages = ({ types: { id } }: UserReference): Migration => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const add = (
      table: string,
      column: string,
      type: 'text' | 'integer' | 'bigint',
      otherwise?: string | number,
    ) =>
      db.schema
        .alterTable(`oauth2server_${table}`)
        .addColumn(column, type, (c) =>
          otherwise === undefined ? c : c.notNull().defaultTo(otherwise),
        )
        .execute()

    await add('client', 'optional_scopes', 'text', '')
    await add('client', 'is_verified', 'integer', 0)
    await add('client', 'is_disabled', 'integer', 0)
    await add('client', 'previous_client_secret', 'text')
    await add('client', 'previous_client_secret_expires', 'bigint')
    await add('authorization', 'user_agent', 'text', '')
    await add('token', 'last_used_at', 'bigint')
    await add('token', 'last_used_address', 'text')
    await add('token', 'successor_id', 'bigint')
    await add('consent', 'declined_scopes', 'text', '')

    await db.schema
      .createTable('oauth2server_audit')
      .addColumn('id', id, counting(id))
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('event', 'text', (c) => c.notNull())
      .addColumn('actor_id', 'text')
      .addColumn('actor_email', 'text', (c) => c.notNull())
      .addColumn('client_id', 'text')
      .addColumn('token_id', 'bigint')
      .addColumn('subject', 'text', (c) => c.notNull())
      .addColumn('address', 'text', (c) => c.notNull())
      .execute()

    for (const [name, columns] of Object.entries(lists)) {
      const table = name.replace(/_by_.*$/, '')
      await db.schema
        .createIndex(`oauth2server_${name}`)
        .on(`oauth2server_${table}`)
        .columns(columns)
        .execute()
    }
    // Few tokens have one, so the index costs the others nothing.
    await db.schema
      .createIndex('oauth2server_token_by_successor')
      .on('oauth2server_token')
      .column('successor_id')
      .where('successor_id', 'is not', null)
      .execute()
    for (const index of covered) await db.schema.dropIndex(index).execute()
  },

  async down(db: Kysely<unknown>): Promise<void> {
    for (const index of covered) {
      const table = index.replace(/_user_id$/, '')
      await db.schema.createIndex(index).on(table).column('user_id').execute()
    }
    await db.schema.dropIndex('oauth2server_token_by_successor').execute()
    for (const name of Object.keys(lists)) {
      await db.schema.dropIndex(`oauth2server_${name}`).execute()
    }
    await db.schema.dropTable('oauth2server_audit').execute()
    for (const [table, columns] of Object.entries(added)) {
      for (const column of columns) {
        await db.schema.alterTable(`oauth2server_${table}`).dropColumn(column).execute()
      }
    }
  },
})

/** Every list has an index in its own order, so that a part of it costs the same wherever it begins. */
const lists: Readonly<Record<string, string[]>> = {
  client_by_owner: ['user_id', 'is_personal', 'created_at', 'client_id'],
  client_by_age: ['is_personal', 'created_at', 'client_id'],
  token_by_user: ['user_id', 'is_personal', 'id'],
  session_by_user: ['user_id', 'created_at', 'id'],
}

/** Indexes that the new ones begin with. */
const covered = [
  'oauth2server_client_user_id',
  'oauth2server_token_user_id',
  'oauth2server_session_user_id',
]

const added: Readonly<Record<string, readonly string[]>> = {
  client: [
    'optional_scopes',
    'is_verified',
    'is_disabled',
    'previous_client_secret',
    'previous_client_secret_expires',
  ],
  authorization: ['user_agent'],
  token: ['last_used_at', 'last_used_address', 'successor_id'],
  consent: ['declined_scopes'],
}
