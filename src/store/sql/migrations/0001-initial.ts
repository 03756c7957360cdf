import { type ColumnDefinitionBuilder, type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { UserReference } from '../handle.ts'

export const initial = (reference: UserReference): Migration => {
  const {
    users,
    types: { id, userKey },
  } = reference
  // The table of tokens has many rows. On PostgreSQL, smallint saves two bytes for each flag of a row.
  const flag = id === 'integer' ? 'integer' : 'smallint'
  // If the users are in a table of the application, foreign keys refer to that table, because the application deletes
  // users without the server. No foreign key refers to a client or a built-in user: a deletion would cascade to any
  // number of rows in one statement. The sweeper deletes these rows in batches instead.
  const ofUser = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder => {
    const key = foreignKeyOf(reference)
    return key === null ? column : column.references(key).onDelete('cascade')
  }
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      if (users === 'built-in') {
        await db.schema
          .createTable('oauth2server_user')
          // The server generates the ID before the insert, so that the seal can cover the ID. The ID is random, so that a
          // later user does not get the ID of a deleted user.
          .addColumn('id', id === 'integer' ? 'integer' : 'bigint', (c) => c.primaryKey().notNull())
          .addColumn('email', 'text', (c) => c.notNull().unique())
          .addColumn('password_hash', 'text')
          .addColumn('active', 'integer', (c) => c.notNull())
          .addColumn('email_verified', 'integer', (c) => c.notNull())
          .addColumn('is_admin', 'integer', (c) => c.notNull())
          .addColumn('created_at', 'bigint', (c) => c.notNull())
          .addColumn('seal', 'text', (c) => c.notNull())
          .execute()
        // This index serves searches by the beginning of an e-mail address. In PostgreSQL, the unique index may order
        // texts by the rules of a language, and then cannot find a prefix. SQLite uses the unique index, which compares
        // bytes.
        if (id !== 'integer')
          await sql`create index oauth2server_user_by_email on oauth2server_user (email text_pattern_ops)`.execute(
            db,
          )
      }

      await db.schema
        .createTable('oauth2server_client')
        // The server generates a random key, so that the seal can cover the key before the row is inserted.
        .addColumn('client_key', id === 'integer' ? 'integer' : 'bigint', (c) =>
          c.primaryKey().notNull(),
        )
        .addColumn('client_id', 'text', (c) => c.notNull().unique())
        .addColumn('client_secret', 'text', (c) => c.notNull().unique())
        .addColumn('previous_client_secret', 'text')
        .addColumn('previous_client_secret_expires', 'bigint')
        .addColumn('name', 'text', (c) => c.notNull())
        .addColumn('description', 'text', (c) => c.notNull())
        .addColumn('website', 'text', (c) => c.notNull())
        .addColumn('user_id', userKey, (c) => ofUser(c))
        .addColumn('is_confidential', 'integer', (c) => c.notNull())
        .addColumn('is_internal', 'integer', (c) => c.notNull())
        .addColumn('is_personal', 'integer', (c) => c.notNull())
        .addColumn('is_verified', 'integer', (c) => c.notNull().defaultTo(0))
        .addColumn('is_disabled', 'integer', (c) => c.notNull().defaultTo(0))
        .addColumn('is_pinned', 'integer', (c) => c.notNull().defaultTo(0))
        .addColumn('redirect_uris', 'text', (c) => c.notNull())
        .addColumn('default_scopes', 'text', (c) => c.notNull())
        .addColumn('optional_scopes', 'text', (c) => c.notNull().defaultTo(''))
        .addColumn('allowed_scopes', 'text')
        .addColumn('grant_types', 'text')
        .addColumn('response_types', 'text')
        .addColumn('token_endpoint_auth_method', 'text')
        .addColumn('default_resource', 'text')
        .addColumn('origin', 'text', (c) => c.notNull().defaultTo('owner'))
        .addColumn('jwks', 'text')
        .addColumn('jwks_uri', 'text')
        .addColumn('registration_token', 'text')
        .addColumn('logo', 'text')
        .addColumn('metadata', 'text', (c) => c.notNull().defaultTo('{}'))
        .addColumn('created_at', 'bigint', (c) => c.notNull())
        .addColumn('seal', 'text', (c) => c.notNull())
        .addColumn('state_seal', 'text', (c) => c.notNull())
        .addColumn('own_tokens_until', 'bigint')
        .execute()
      await index(db, 'client_by_owner', [
        'user_id',
        'is_personal',
        'is_internal',
        'created_at',
        'client_id',
      ])
      await index(db, 'client_by_age', ['is_personal', 'created_at', 'client_id'])
      await partialIndex(db, 'client_by_origin', 'created_at', `origin <> 'owner'`)
      await partialIndex(db, 'client_by_previous_secret', 'previous_client_secret')

      await db.schema
        .createTable('oauth2server_client_logo')
        .addColumn('client_key', 'bigint', (c) => c.primaryKey().notNull())
        .addColumn('digest', 'text')
        .addColumn('image', 'text')
        .addColumn('requested_at', 'bigint')
        .addColumn('problem', 'text')
        .execute()
      await partialIndex(db, 'client_logo_by_digest', 'digest')
      await partialIndex(db, 'client_logo_by_request', 'requested_at')

      await db.schema
        .createTable('oauth2server_authorization')
        .addColumn('id', id, autoIncrement(id))
        .addColumn('client_key', 'bigint', (c) => c.notNull())
        .addColumn('user_id', userKey, (c) => ofUser(c))
        .addColumn('scopes', 'text', (c) => c.notNull())
        .addColumn('resources', 'text', (c) => c.notNull().defaultTo(''))
        .addColumn('code_digest', 'text', (c) => c.unique())
        .addColumn('code_binding', 'text')
        .addColumn('user_agent', 'text', (c) => c.notNull().defaultTo(''))
        .addColumn('created_at', 'bigint', (c) => c.notNull())
        .addColumn('expires_at', 'bigint', (c) => c.notNull())
        .addColumn('revoked_at', 'bigint')
        .execute()
      await index(db, 'authorization_by_client', ['client_key'])
      await index(db, 'authorization_by_user', ['user_id', 'client_key', 'revoked_at', 'id'])
      await index(db, 'authorization_by_end', ['expires_at'])

      await db.schema
        .createTable('oauth2server_token')
        // On PostgreSQL, a number after a text may need padding, so the numbers precede the text columns.
        .addColumn('id', id, autoIncrement(id))
        .addColumn('client_key', 'bigint', (c) => c.notNull())
        .addColumn('user_id', userKey, (c) => ofUser(c))
        .addColumn('authorization_id', 'bigint', (c) =>
          c.references('oauth2server_authorization.id').onDelete('cascade'),
        )
        .addColumn('parent_id', 'bigint', (c) =>
          c.references('oauth2server_token.id').onDelete('cascade'),
        )
        .addColumn('successor_id', 'bigint')
        .addColumn('former_expires', 'bigint')
        .addColumn('expires', 'bigint')
        .addColumn('refresh_expires', 'bigint')
        .addColumn('ends_at', 'bigint')
        .addColumn('created_at', 'bigint', (c) => c.notNull())
        .addColumn('last_used_at', 'bigint')
        .addColumn('is_personal', flag, (c) => c.notNull())
        .addColumn('is_internal', flag, (c) => c.notNull())
        .addColumn('token_type', 'text', (c) => c.notNull())
        .addColumn('access_token', 'text', (c) => c.notNull())
        .addColumn('access_token_digest', 'text', (c) => c.notNull().unique())
        .addColumn('refresh_token', 'text')
        .addColumn('refresh_token_digest', 'text')
        .addColumn('former_digest', 'text')
        .addColumn('scopes', 'text', (c) => c.notNull())
        .addColumn('resources', 'text', (c) => c.notNull().defaultTo(''))
        .addColumn('key_thumbprint', 'text')
        .addColumn('last_used_address', 'text')
        .addColumn('used_scopes', 'text', (c) => c.notNull().defaultTo(''))
        .execute()
      // `token_by_client` contains every column in the conditions of `countTokens`, which counts the tokens of a client.
      // So SQLite counts without reading the table, and PostgreSQL reads only the counted rows.
      await index(db, 'token_by_client', ['client_key', 'is_personal', 'is_internal', 'parent_id'])
      await index(db, 'token_by_user', ['user_id', 'client_key', 'id'])
      await db.schema
        .createIndex('oauth2server_token_of_person')
        .on('oauth2server_token')
        .columns(['user_id', 'is_internal', 'successor_id', 'parent_id', 'id'])
        .where(sql<boolean>`is_personal = 1`)
        .execute()
      await index(db, 'token_by_end', ['ends_at'])
      await db.schema
        .createIndex('oauth2server_token_by_refresh')
        .unique()
        .on('oauth2server_token')
        .column('refresh_token_digest')
        .where('refresh_token_digest', 'is not', null)
        .execute()
      await partialIndex(db, 'token_by_authorization', 'authorization_id')
      await db.schema
        .createIndex('oauth2server_token_by_parent')
        .on('oauth2server_token')
        .columns(['parent_id', 'id'])
        .where('parent_id', 'is not', null)
        .execute()
      await partialIndex(db, 'token_by_successor', 'successor_id')
      await partialIndex(db, 'token_by_former', 'former_digest')

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
      await index(db, 'rotated_refresh_token_by_authorization', ['authorization_id', 'rotated_at'])

      await db.schema
        .createTable('oauth2server_consent')
        .addColumn('user_id', userKey, (c) => ofUser(c.notNull()))
        .addColumn('client_key', 'bigint', (c) => c.notNull())
        .addColumn('id', 'text', (c) => c.notNull())
        .addColumn('scopes', 'text', (c) => c.notNull())
        .addColumn('declined_scopes', 'text', (c) => c.notNull().defaultTo(''))
        .addColumn('granted_at', 'bigint', (c) => c.notNull())
        .addColumn('seal', 'text', (c) => c.notNull())
        .addPrimaryKeyConstraint('oauth2server_consent_pk', ['user_id', 'client_key'])
        .execute()
      await index(db, 'consent_by_client', ['client_key', 'user_id'])

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
      await index(db, 'session_by_user', ['user_id', 'created_at', 'id'])
      await index(db, 'session_by_end', ['expires_at'])
      await index(db, 'session_by_last_seen', ['last_seen_at'])

      await db.schema
        .createTable('oauth2server_client_login')
        .addColumn('id', 'text', (c) => c.primaryKey().notNull())
        .addColumn('authorization_id', 'bigint')
        .addColumn('session_id', 'text', (c) => c.notNull())
        .addColumn('sid', 'text', (c) => c.notNull())
        .addColumn('client_key', 'bigint', (c) => c.notNull())
        .addColumn('user_id', userKey, (c) => ofUser(c.notNull()))
        .addColumn('is_offline', 'integer', (c) => c.notNull())
        .addColumn('expires_at', 'bigint', (c) => c.notNull())
        .execute()
      await index(db, 'client_login_by_session', ['session_id'])
      await index(db, 'client_login_by_user', ['user_id'])
      await index(db, 'client_login_by_end', ['expires_at'])

      await db.schema
        .createTable('oauth2server_removal')
        .addColumn('kind', 'text', (c) => c.notNull())
        .addColumn('key', 'bigint', (c) => c.notNull())
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint('oauth2server_removal_pk', ['kind', 'key'])
        .execute()

      await db.schema
        .createTable('oauth2server_sweeper_note')
        .addColumn('kind', 'text', (c) => c.notNull())
        .addColumn('key', 'text', (c) => c.notNull())
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint('oauth2server_sweeper_note_pk', ['kind', 'key'])
        .execute()
      await db.schema
        .createIndex('oauth2server_sweeper_note_by_time')
        .on('oauth2server_sweeper_note')
        .columns(['kind', 'at'])
        .execute()

      await db.schema
        .createTable('oauth2server_transient')
        .addColumn('key', 'text', (c) => c.primaryKey().notNull())
        .addColumn('value', 'text')
        .addColumn('count', 'integer', (c) => c.notNull())
        .addColumn('expires_at', 'bigint', (c) => c.notNull())
        .execute()
      await index(db, 'transient_by_end', ['expires_at'])

      await db.schema
        .createTable('oauth2server_audit')
        .addColumn('id', id, autoIncrement(id))
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addColumn('event', 'text', (c) => c.notNull())
        .addColumn('actor', 'text', (c) => c.notNull())
        .addColumn('actor_id', 'text')
        .addColumn('actor_email', 'text', (c) => c.notNull())
        .addColumn('user_id', 'text')
        .addColumn('user_email', 'text')
        .addColumn('client_id', 'text')
        .addColumn('token_id', 'bigint')
        .addColumn('authorization_id', 'bigint')
        .addColumn('subject', 'text', (c) => c.notNull())
        .addColumn('address', 'text', (c) => c.notNull())
        .addColumn('user_agent', 'text', (c) => c.notNull())
        .addColumn('request_id', 'text')
        .addColumn('is_routine', 'integer', (c) => c.notNull())
        .addColumn('details', 'text', (c) => c.notNull())
        .addColumn('seal', 'text', (c) => c.notNull())
        .execute()
      await index(db, 'audit_by_time', ['at', 'id'])
      await index(db, 'audit_by_event', ['event', 'at', 'id'])
      await index(db, 'audit_by_user', ['user_id', 'at', 'id'])
      await index(db, 'audit_by_client', ['client_id', 'at', 'id'])
      // Users see their own log without routine events, so an index of the few other events is sufficient.
      await db.schema
        .createIndex('oauth2server_audit_of_person')
        .on('oauth2server_audit')
        .columns(['user_id', 'at', 'id'])
        .where(sql<boolean>`is_routine = 0`)
        .execute()
      // Investigations begin with a token or an IP address. Routine events are too frequent for these indexes.
      for (const column of ['token_id', 'address'])
        await db.schema
          .createIndex(`oauth2server_audit_of_${column}`)
          .on('oauth2server_audit')
          .columns([column, 'at', 'id'])
          .where(sql<boolean>`is_routine = 0`)
          .execute()

      await db.schema
        .createTable('oauth2server_audit_checkpoint')
        .addColumn('number', id === 'integer' ? 'integer' : 'bigint', (c) =>
          c.primaryKey().notNull(),
        )
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addColumn('after_id', 'bigint', (c) => c.notNull())
        .addColumn('last_id', 'bigint', (c) => c.notNull())
        .addColumn('ids', 'text', (c) => c.notNull())
        .addColumn('rows_digest', 'text', (c) => c.notNull())
        .addColumn('latest_at', 'bigint', (c) => c.notNull())
        .addColumn('forged', 'text', (c) => c.notNull())
        .addColumn('removed_up_to', 'bigint', (c) => c.notNull())
        .addColumn('previous', 'text', (c) => c.notNull())
        .addColumn('seal', 'text', (c) => c.notNull())
        .execute()

      await db.schema
        .createTable('oauth2server_audit_count')
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addColumn('client_id', 'text', (c) => c.notNull())
        .addColumn('event', 'text', (c) => c.notNull())
        .addColumn('grant_type', 'text', (c) => c.notNull())
        .addColumn('user_id', 'text', (c) => c.notNull())
        .addColumn('writer', 'bigint', (c) => c.notNull())
        .addColumn('count', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint('oauth2server_audit_count_pk', [
          'at',
          'client_id',
          'event',
          'grant_type',
          'user_id',
          'writer',
        ])
        // With `without rowid`, SQLite stores the rows only in the index of the primary key.
        .$call((table) => (id === 'integer' ? table.modifyEnd(sql`without rowid`) : table))
        .execute()

      await db.schema
        .createTable('oauth2server_signing_key')
        .addColumn('id', 'text', (c) => c.primaryKey().notNull())
        .addColumn('algorithm', 'text', (c) => c.notNull())
        .addColumn('public_key', 'text', (c) => c.notNull())
        .addColumn('private_key', 'text', (c) => c.notNull())
        .addColumn('created_at', 'bigint', (c) => c.notNull())
        .execute()

      await db.schema
        .createTable('oauth2server_secret_key')
        .addColumn('id', 'text', (c) => c.primaryKey().notNull())
        .addColumn('created_at', 'bigint', (c) => c.notNull())
        .execute()
    },

    async down(db: Kysely<unknown>): Promise<void> {
      for (const table of [
        'secret_key',
        'signing_key',
        'audit_count',
        'audit_checkpoint',
        'audit',
        'transient',
        'sweeper_note',
        'removal',
        'client_login',
        'session',
        'consent',
        'rotated_refresh_token',
        'token',
        'authorization',
        'client_logo',
        'client',
        ...(users === 'built-in' ? ['user'] : []),
      ]) {
        await db.schema.dropTable(`oauth2server_${table}`).execute()
      }
    },
  }
}

// Without `autoincrement`, SQLite could assign the ID of a deleted row again.
const autoIncrement =
  (id: 'integer' | 'bigserial') =>
  (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder =>
    id === 'integer' ? column.primaryKey().autoIncrement() : column.primaryKey()

const foreignKeyOf = ({ users, userForeignKey }: UserReference): string | null =>
  typeof users === 'object' && userForeignKey.exists ? `${users.name}.${users.columns.id}` : null

/**
 * Creates an index of the table whose name precedes `_by_` in the name of the index. Most indexes have the order of a
 * list, so that every page of the list takes the same time.
 */
const index = (db: Kysely<unknown>, name: string, columns: string[]): Promise<void> =>
  db.schema
    .createIndex(`oauth2server_${name}`)
    .on(`oauth2server_${name.slice(0, name.indexOf('_by_'))}`)
    .columns(columns)
    .execute()

/**
 * Creates an index of the rows that meet a condition; by default, of the rows in which the column is not null. Derives
 * the table from the name like `index()`.
 */
const partialIndex = (
  db: Kysely<unknown>,
  name: string,
  column: string,
  condition = `${column} is not null`,
): Promise<void> =>
  db.schema
    .createIndex(`oauth2server_${name}`)
    .on(`oauth2server_${name.slice(0, name.indexOf('_by_'))}`)
    .column(column)
    .where(sql.raw<boolean>(condition))
    .execute()
