import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { UserReference } from './all.ts'

/** What clients of today bring along: keys, registrations, resources. Additive: the version before runs on beside it. */
export const todaysClients = ({ types: { id } }: UserReference): Migration => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const add = (table: string, column: string, otherwise?: string) =>
      db.schema
        .alterTable(`oauth2server_${table}`)
        .addColumn(column, 'text', (c) =>
          otherwise === undefined ? c : c.notNull().defaultTo(otherwise),
        )
        .execute()

    await add('client', 'origin', 'owner')
    await add('client', 'jwks')
    await add('client', 'jwks_uri')
    await add('client', 'registration_token')
    await add('client', 'metadata', '{}')
    await add('authorization', 'resources', '')
    await add('token', 'resources', '')
    await add('token', 'key_thumbprint')
    await db.schema
      .alterTable('oauth2server_token')
      .addColumn('parent_id', 'bigint', (c) =>
        c.references('oauth2server_token.id').onDelete('cascade'),
      )
      .execute()

    await db.schema
      .createTable('oauth2server_signing_key')
      .addColumn('id', 'text', (c) => c.primaryKey().notNull())
      .addColumn('algorithm', 'text', (c) => c.notNull())
      .addColumn('public_key', 'text', (c) => c.notNull())
      .addColumn('private_key', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .execute()

    // Few rows have what these are about, so the others cost nothing.
    await db.schema
      .createIndex('oauth2server_token_by_parent')
      .on('oauth2server_token')
      .column('parent_id')
      .where('parent_id', 'is not', null)
      .execute()
    await db.schema
      .createIndex('oauth2server_client_by_origin')
      .on('oauth2server_client')
      .column('created_at')
      .where(sql<boolean>`origin <> 'owner'`)
      .execute()
    // Of new columns PostgreSQL assumes that many rows are alike, and deletes slowly where the table is large.
    if (id === 'bigserial') await sql`analyze oauth2server_token`.execute(db)
  },

  async down(db: Kysely<unknown>): Promise<void> {
    await db.schema.dropIndex('oauth2server_client_by_origin').execute()
    await db.schema.dropIndex('oauth2server_token_by_parent').execute()
    await db.schema.dropTable('oauth2server_signing_key').execute()
    for (const [table, columns] of Object.entries(added)) {
      for (const column of columns) {
        await db.schema.alterTable(`oauth2server_${table}`).dropColumn(column).execute()
      }
    }
  },
})

const added: Readonly<Record<string, readonly string[]>> = {
  client: ['origin', 'jwks', 'jwks_uri', 'registration_token', 'metadata'],
  authorization: ['resources'],
  token: ['resources', 'key_thumbprint', 'parent_id'],
}
