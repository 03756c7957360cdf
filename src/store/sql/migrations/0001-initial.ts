import type { ColumnDefinitionBuilder, Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { UserReference } from './all.ts'

export const initial = ({ users, types: { id, userKey } }: UserReference): Migration => {
  const ofUser = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder => {
    const key = users === 'built-in' ? 'oauth2server_user.id' : foreignKeyOf(users)
    return key === null ? column : column.references(key).onDelete('cascade')
  }
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      if (users === 'built-in') {
        await db.schema
          .createTable('oauth2server_user')
          .addColumn('id', id, counting(id))
          .addColumn('email', 'text', (c) => c.notNull().unique())
          .addColumn('password_hash', 'text')
          .addColumn('active', 'integer', (c) => c.notNull())
          .addColumn('email_verified', 'integer', (c) => c.notNull())
          .addColumn('is_admin', 'integer', (c) => c.notNull())
          .addColumn('created_at', 'bigint', (c) => c.notNull())
          .execute()
      }

      await db.schema
        .createTable('oauth2server_client')
        .addColumn('client_id', 'text', (c) => c.primaryKey().notNull())
        .addColumn('client_secret', 'text', (c) => c.notNull().unique())
        .addColumn('name', 'text', (c) => c.notNull())
        .addColumn('description', 'text', (c) => c.notNull())
        .addColumn('website', 'text', (c) => c.notNull())
        .addColumn('user_id', userKey, (c) => ofUser(c))
        .addColumn('is_confidential', 'integer', (c) => c.notNull())
        .addColumn('is_internal', 'integer', (c) => c.notNull())
        .addColumn('is_personal', 'integer', (c) => c.notNull())
        .addColumn('redirect_uris', 'text', (c) => c.notNull())
        .addColumn('default_scopes', 'text', (c) => c.notNull())
        .addColumn('allowed_scopes', 'text')
        .addColumn('grant_types', 'text')
        .addColumn('response_types', 'text')
        .addColumn('token_endpoint_auth_method', 'text')
        .addColumn('created_at', 'bigint', (c) => c.notNull())
        .addColumn('seal', 'text', (c) => c.notNull())
        .execute()
      await index(db, 'oauth2server_client', 'user_id')

      await db.schema
        .createTable('oauth2server_authorization')
        .addColumn('id', id, counting(id))
        .addColumn('client_id', 'text', (c) => ofClient(c.notNull()))
        .addColumn('user_id', userKey, (c) => ofUser(c))
        .addColumn('scopes', 'text', (c) => c.notNull())
        .addColumn('code_digest', 'text', (c) => c.unique())
        .addColumn('code_binding', 'text')
        .addColumn('created_at', 'bigint', (c) => c.notNull())
        .addColumn('expires_at', 'bigint', (c) => c.notNull())
        .addColumn('revoked_at', 'bigint')
        .execute()
      await index(db, 'oauth2server_authorization', 'client_id')
      await index(db, 'oauth2server_authorization', 'user_id')
      await index(db, 'oauth2server_authorization', 'expires_at')

      await db.schema
        .createTable('oauth2server_token')
        .addColumn('id', id, counting(id))
        .addColumn('client_id', 'text', (c) => ofClient(c.notNull()))
        .addColumn('user_id', userKey, (c) => ofUser(c))
        .addColumn('authorization_id', 'bigint', (c) =>
          c.references('oauth2server_authorization.id').onDelete('cascade'),
        )
        .addColumn('token_type', 'text', (c) => c.notNull())
        .addColumn('access_token', 'text', (c) => c.notNull())
        .addColumn('access_token_digest', 'text', (c) => c.notNull().unique())
        .addColumn('refresh_token', 'text')
        .addColumn('refresh_token_digest', 'text')
        .addColumn('expires', 'bigint')
        .addColumn('refresh_expires', 'bigint')
        .addColumn('ends_at', 'bigint')
        .addColumn('scopes', 'text', (c) => c.notNull())
        .addColumn('is_personal', 'integer', (c) => c.notNull())
        .addColumn('is_internal', 'integer', (c) => c.notNull())
        .addColumn('created_at', 'bigint', (c) => c.notNull())
        .execute()
      await index(db, 'oauth2server_token', 'client_id')
      await index(db, 'oauth2server_token', 'user_id')
      // Many tokens have neither, and cost nothing here.
      await db.schema
        .createIndex('oauth2server_token_by_refresh')
        .unique()
        .on('oauth2server_token')
        .column('refresh_token_digest')
        .where('refresh_token_digest', 'is not', null)
        .execute()
      await db.schema
        .createIndex('oauth2server_token_authorization_id')
        .on('oauth2server_token')
        .column('authorization_id')
        .where('authorization_id', 'is not', null)
        .execute()
      await index(db, 'oauth2server_token', 'ends_at')

      await db.schema
        .createTable('oauth2server_rotated_refresh_token')
        .addColumn('digest', 'text', (c) => c.primaryKey().notNull())
        .addColumn('authorization_id', 'bigint', (c) =>
          c.notNull().references('oauth2server_authorization.id').onDelete('cascade'),
        )
        .addColumn('successor', 'text', (c) => c.notNull())
        .addColumn('parameters', 'text', (c) => c.notNull())
        .addColumn('rotated_at', 'bigint', (c) => c.notNull())
        .addColumn('seal', 'text', (c) => c.notNull())
        .execute()
      await index(db, 'oauth2server_rotated_refresh_token', 'authorization_id')

      await db.schema
        .createTable('oauth2server_consent')
        .addColumn('user_id', userKey, (c) => ofUser(c.notNull()))
        .addColumn('client_id', 'text', (c) => ofClient(c.notNull()))
        .addColumn('id', 'text', (c) => c.notNull())
        .addColumn('scopes', 'text', (c) => c.notNull())
        .addColumn('granted_at', 'bigint', (c) => c.notNull())
        .addColumn('seal', 'text', (c) => c.notNull())
        .addPrimaryKeyConstraint('oauth2server_consent_pk', ['user_id', 'client_id'])
        .execute()
      await index(db, 'oauth2server_consent', 'client_id')

      await db.schema
        .createTable('oauth2server_session')
        .addColumn('id', 'text', (c) => c.primaryKey().notNull())
        .addColumn('user_id', userKey, (c) => ofUser(c.notNull()))
        .addColumn('address', 'text', (c) => c.notNull())
        .addColumn('user_agent', 'text', (c) => c.notNull())
        .addColumn('created_at', 'bigint', (c) => c.notNull())
        .addColumn('expires_at', 'bigint', (c) => c.notNull())
        .addColumn('last_seen_at', 'bigint', (c) => c.notNull())
        .addColumn('seal', 'text', (c) => c.notNull())
        .execute()
      await index(db, 'oauth2server_session', 'user_id')
      await index(db, 'oauth2server_session', 'expires_at')
      await index(db, 'oauth2server_session', 'last_seen_at')

      await db.schema
        .createTable('oauth2server_transient')
        .addColumn('key', 'text', (c) => c.primaryKey().notNull())
        .addColumn('value', 'text')
        .addColumn('count', 'integer', (c) => c.notNull())
        .addColumn('expires_at', 'bigint', (c) => c.notNull())
        .execute()
      await index(db, 'oauth2server_transient', 'expires_at')

      await db.schema
        .createTable('oauth2server_secret_key')
        .addColumn('id', 'text', (c) => c.primaryKey().notNull())
        .addColumn('created_at', 'bigint', (c) => c.notNull())
        .execute()
    },

    async down(db: Kysely<unknown>): Promise<void> {
      for (const table of [
        'secret_key',
        'transient',
        'session',
        'consent',
        'rotated_refresh_token',
        'token',
        'authorization',
        'client',
        ...(users === 'built-in' ? ['user'] : []),
      ]) {
        await db.schema.dropTable(`oauth2server_${table}`).execute()
      }
    },
  }
}

// PostgreSQL's type counts by itself; SQLite's key has to be told, or it would give an id out again.
export const counting =
  (id: 'integer' | 'bigserial') =>
  (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder =>
    id === 'integer' ? column.primaryKey().autoIncrement() : column.primaryKey()

const foreignKeyOf = (users: UserReference['users']): string | null =>
  typeof users === 'object' && users.foreignKeys ? `${users.name}.${users.columns.id}` : null

const index = (db: Kysely<unknown>, table: string, column: string): Promise<void> =>
  db.schema.createIndex(`${table}_${column}`).on(table).column(column).execute()

// A client's id can be regenerated, so what refers to it must follow.
const ofClient = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder =>
  column.references('oauth2server_client.client_id').onDelete('cascade').onUpdate('cascade')
