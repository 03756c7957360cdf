import { type Kysely, type RawBuilder, sql } from 'kysely'
import { type Removal, removalCodec } from '../../model/entities/removal.ts'
import type { UserId } from '../../model/user.ts'
import type { RemovalStore } from '../contract/sweeper.ts'
import type { Handle } from './handle.ts'
import { rowsOf } from './rows.ts'
import type { Tables } from './tables.ts'

/** Selects the rows of a client or a user. */
interface Rows {
  readonly owner: 'client_key' | 'user_id'
  readonly value: UserId
  /** Selects only rows that were created before this time, in milliseconds since the epoch; null selects all rows. */
  readonly before: number | null
}

/** Builds the condition that selects the rows. */
const selected = (
  { owner, value, before }: Rows,
  createdAt: 'created_at' | 'granted_at' = 'created_at',
): RawBuilder<boolean> => {
  const isOwned = sql<boolean>`${sql.ref(owner)} = ${value}`
  return before === null ? isOwned : sql`${isOwned} and ${sql.ref(createdAt)} < ${before}`
}

interface Target {
  readonly db: Kysely<Tables>
  /** Whether null values come last in ascending order. */
  readonly nullsLast: boolean
}

/** Returns the target of removals. `locking` is only true for PostgreSQL, which sorts null values last. */
export const removalTarget = ({ purge, locking }: Handle): Target => ({
  db: purge,
  nullsLast: locking,
})

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

// Each step is one bounded statement outside of a transaction, so no lock is held while the next step runs.

const removeRotatedTokens = async ({ db }: Target, which: Rows, limit: number): Promise<number> => {
  const authorizations = sql`select id from oauth2server_authorization where ${selected(which)} limit ${limit}`
  const { numAffectedRows } =
    await sql`delete from oauth2server_rotated_refresh_token where digest in (select digest from oauth2server_rotated_refresh_token where authorization_id in (${authorizations}) limit ${limit})`.execute(
      db,
    )
  return Number(numAffectedRows ?? 0)
}

// Delete exchanged tokens before their parents, in the order of an index. The deletion of a parent then does not
// cascade.
const removeTokens = async (
  { db, nullsLast }: Target,
  which: Rows,
  limit: number,
): Promise<number> => {
  const direction = nullsLast ? sql`asc` : sql`desc`
  const order =
    which.owner === 'client_key'
      ? sql`client_key ${direction}, is_personal ${direction}, is_internal ${direction}, parent_id ${direction}`
      : sql`user_id desc, client_key desc, id desc`
  const { numAffectedRows } =
    await sql`delete from oauth2server_token where id in (select id from oauth2server_token where ${selected(which)} order by ${order} limit ${limit})`.execute(
      db,
    )
  return Number(numAffectedRows ?? 0)
}

const removeKeyed = async (
  { db }: Target,
  table: 'consent' | 'session' | 'authorization',
  which: Rows,
  limit: number,
): Promise<number> => {
  const name = sql.table(`oauth2server_${table}`)
  const isConsent = table === 'consent'
  const key = isConsent ? sql`user_id, client_key` : sql`id`
  const condition = selected(which, isConsent ? 'granted_at' : 'created_at')
  const { numAffectedRows } =
    await sql`delete from ${name} where (${key}) in (select ${key} from ${name} where ${condition} limit ${limit})`.execute(
      db,
    )
  return Number(numAffectedRows ?? 0)
}

// With `before`, delete no logins, because their creation time is not stored. A login expires after the lifetime of a
// session.
const removeLogins = async ({ db }: Target, which: Rows, limit: number): Promise<number> => {
  if (which.before !== null) return 0
  const condition = selected(which)
  const { numAffectedRows } =
    await sql`delete from oauth2server_client_login where id in (select id from oauth2server_client_login where ${condition} limit ${limit})`.execute(
      db,
    )
  return Number(numAffectedRows ?? 0)
}

const removeLogos = async ({ db }: Target, { owner, value }: Rows): Promise<number> => {
  if (owner !== 'client_key') return 0
  const { numDeletedRows } = await db
    .deleteFrom('oauth2server_client_logo')
    .where('client_key', '=', Number(value))
    .executeTakeFirst()
  return Number(numDeletedRows)
}

const removeGranted = async (target: Target, which: Rows, limit: number): Promise<number> =>
  (await removeTokens(target, which, limit)) ||
  (await removeRotatedTokens(target, which, limit)) ||
  (await removeKeyed(target, 'authorization', which, limit)) ||
  (await removeKeyed(target, 'consent', which, limit)) ||
  (await removeLogos(target, which))

const ofClient = (key: number): Rows => ({ owner: 'client_key', value: key, before: null })

const removeOwnedClients = async (target: Target, which: Rows, limit: number): Promise<number> => {
  const { db } = target
  const client = await db
    .selectFrom('oauth2server_client')
    .select('client_key')
    .where(selected(which))
    .limit(1)
    .executeTakeFirst()
  if (!client) return 0
  const { client_key: key } = client
  const removed = await removeGranted(target, ofClient(key), limit)
  if (removed > 0) return removed
  await db.deleteFrom('oauth2server_client').where('client_key', '=', key).execute()
  return 1
}

/**
 * Deletes about `limit` rows of a deleted user.
 * @param before deletes only rows that were created earlier, in milliseconds since the epoch; null deletes all rows
 * @returns the number of deleted rows; 0 if no row was left
 */
export const removeOfUser = async (
  target: Target,
  { userId, before }: { readonly userId: UserId; readonly before: number | null },
  limit: number,
): Promise<number> => {
  const which: Rows = { owner: 'user_id', value: userId, before }
  return (
    (await removeKeyed(target, 'session', which, limit)) ||
    (await removeLogins(target, which, limit)) ||
    (await removeGranted(target, which, limit)) ||
    (await removeOwnedClients(target, which, limit))
  )
}

/** The tables in which `findOrphans` searches for rows of deleted clients. */
const tablesOfClients = ['token', 'authorization', 'consent', 'client_logo'] as const

export const sqlRemovals = (handle: Handle): RemovalStore => {
  const { read } = handle
  const target = removalTarget(handle)
  return {
    ...rowsOf(handle, removalCodec),

    removeSome: ({ kind, key }, limit) =>
      kind === 'client'
        ? removeGranted(target, ofClient(key), limit)
        : removeOfUser(target, { userId: key, before: null }, limit),

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
