import { type Kysely, type RawBuilder, sql } from 'kysely'
import { entities } from '../../model/entities/all.ts'
import { type Removal, removalCodec } from '../../model/entities/removal.ts'
import type { UserId } from '../../model/user.ts'
import type { RemovalStore, Removed } from '../contract/sweeper.ts'
import { deleteSome } from './count.ts'
import type { Handle } from './handle.ts'
import { rowsOf } from './rows.ts'
import type { Tables } from './tables.ts'

const { authorizations, clientLogins, clients, consents, rotations, sessions, tokens } = entities

/** Records deleted clients and users, so that the sweeper deletes their rows later. */
export const noteRemovals = async (
  db: Kysely<Tables>,
  kind: Removal['kind'],
  keys: readonly number[],
  at: number,
): Promise<void> => {
  if (keys.length === 0) return
  await db
    .insertInto('oauth2server_removal')
    .values(keys.map((key) => ({ kind, key, at })))
    .onConflict((c) => c.doNothing())
    .execute()
}

/** A table with the times at which its rows were created. */
interface CreatedTable {
  readonly table: string
  readonly key: readonly string[]
}

const tablesOfUsers: readonly CreatedTable[] = [consents, clients, authorizations, tokens, sessions]

const isCreatedBefore = (before: number, { table }: CreatedTable): RawBuilder<boolean> =>
  sql`${sql.ref(table === consents.table ? 'granted_at' : 'created_at')} < ${before}`

/**
 * Deletes about `limit` rows. Each step is one bounded statement outside of a transaction, so no lock is held while the
 * next step runs.
 */
const remove = async (
  handle: Handle,
  { kind, key, before = null }: Removed,
  limit: number,
): Promise<number> => {
  const { purge: db, locking: areNullsLast } = handle
  const isOfUser = kind === 'user'
  const isOwned = isOfUser ? sql`user_id = ${key}` : sql`client_key = ${key}`
  const selected = (table: CreatedTable) =>
    before === null ? isOwned : sql`${isOwned} and ${isCreatedBefore(before, table)}`
  const some = (table: CreatedTable, order?: RawBuilder<unknown>) =>
    deleteSome(db, table, selected(table), limit, order)
  // Delete exchanged tokens before their parents, in the order of an index. The deletion of a parent then does not
  // cascade.
  const nullsFirst = areNullsLast ? sql`asc` : sql`desc`
  const order = isOfUser
    ? sql`order by user_id desc, client_key desc, id desc`
    : sql`order by client_key ${nullsFirst}, is_personal ${nullsFirst}, is_internal ${nullsFirst}, parent_id ${nullsFirst}`
  const granted = sql`select id from oauth2server_authorization where ${selected(authorizations)} limit ${limit}`
  return (
    (isOfUser && (await some(sessions))) ||
    // With `before`, delete no logins, because their creation time is not stored. A login expires after the lifetime of
    // a session.
    (isOfUser && before === null && (await some(clientLogins))) ||
    (await some(tokens, order)) ||
    (await deleteSome(db, rotations, sql`authorization_id in (${granted})`, limit)) ||
    (await some(authorizations)) ||
    (await some(consents)) ||
    (isOfUser
      ? await removeOwnedClients(handle, selected(clients), limit)
      : await some({ table: 'oauth2server_client_logo', key: ['client_key'] }))
  )
}

const removeOwnedClients = async (
  handle: Handle,
  isOwned: RawBuilder<unknown>,
  limit: number,
): Promise<number> => {
  const { rows } = await sql<{
    key: number
  }>`select client_key as key from oauth2server_client where ${isOwned} limit 1`.execute(
    handle.purge,
  )
  const [client] = rows
  if (!client) return 0
  const removed = await remove(handle, { kind: 'client', key: client.key }, limit)
  return removed || deleteSome(handle.purge, clients, sql`client_key = ${client.key}`, 1)
}

/** The tables in which `findOrphans` searches for rows of deleted clients. */
const tablesOfClients = ['token', 'authorization', 'consent', 'client_logo'] as const

export const sqlRemovals = (handle: Handle): RemovalStore => {
  const { read } = handle
  return {
    ...rowsOf(handle, removalCodec),

    removeSome: (removed, limit) => remove(handle, removed, limit),

    async idsInUse(after, limit) {
      const parts = tablesOfUsers.map(({ table }) => {
        const hasLaterUser = after === null ? sql`user_id is not null` : sql`user_id > ${after}`
        // Every part has a limit, so that no table is scanned completely.
        return sql`select * from (select distinct user_id as id from ${sql.table(table)} where ${hasLaterUser} order by user_id limit ${limit}) as ${sql.ref(table)}`
      })
      const { rows } = await sql<{
        id: UserId
      }>`${sql.join(parts, sql` union `)} order by id limit ${limit}`.execute(read)
      return rows.map(({ id }) => id)
    },

    async hasOlder(userId, before) {
      const parts = tablesOfUsers.map(
        (from) =>
          sql`exists (select 1 from ${sql.table(from.table)} where user_id = ${userId} and ${isCreatedBefore(before, from)})`,
      )
      const { rows } = await sql`select 1 where ${sql.join(parts, sql` or `)}`.execute(read)
      return rows.length > 0
    },

    async findOrphans(after, limit) {
      const keysOf = async (table: (typeof tablesOfClients)[number]) => {
        const name = sql.table(`oauth2server_${table}`)
        // The recursive query looks up each next key in the index, so it does not read all rows of each client.
        const { rows } = await sql<{
          key: number
        }>`with recursive keys(key) as (select min(client_key) from ${name} where client_key > ${after} union all select (select min(client_key) from ${name} where client_key > keys.key) from keys where keys.key is not null) select key from keys where key is not null limit ${limit}`.execute(
          read,
        )
        return rows.map(({ key }) => key)
      }
      const lists: number[][] = []
      for (const table of tablesOfClients) lists.push(await keysOf(table))
      // If a list has `limit` keys, its table may have further keys. Return only keys up to the smallest last key of
      // these full lists, because every list is complete up to this key.
      const ends = lists.filter((keys) => keys.length === limit).map((keys) => keys.at(-1) ?? after)
      const last = ends.length === 0 ? null : Math.min(...ends)
      const keys = [...new Set(lists.flat())].filter((key) => last === null || key <= last)
      if (keys.length === 0) return { keys, last }
      const clients = await read
        .selectFrom('oauth2server_client')
        .select('client_key')
        .where('client_key', 'in', keys)
        .execute()
      const live = new Set(clients.map(({ client_key }) => client_key))
      return { keys: keys.filter((key) => !live.has(key)), last }
    },
  }
}
