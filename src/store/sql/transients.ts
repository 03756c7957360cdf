import { type RawBuilder, sql } from 'kysely'
import type { Transient, Transients } from '../contract/transients.ts'
import { expiring } from './expiring.ts'
import { type Handle, lookupBy, prepared, unindexed, writeShared } from './handle.ts'

/** The rows of short-lived values. */
export const transientRows = (handle: Handle) =>
  expiring(handle, { table: 'oauth2server_transient', key: ['key'], end: 'expires_at' })

const transientOf = (row: Transient | undefined): Transient | undefined =>
  row && { value: row.value, count: row.count, expiresAt: row.expiresAt }

/** Stores short-lived values in the database, so that no other system is required and a restart loses no values. */
export const sqlTransients = (handle: Handle): Transients => {
  const { read, write, locking } = handle
  const surplus = prepared(
    handle,
    write,
    'transients.surplus',
    (owner, key, kept) => sql`
    delete from oauth2server_transient where key in (
      select key from oauth2server_transient where owner = ${owner} and key <> ${key}
      order by expires_at desc limit -1 offset ${kept}
    )`,
  )
  const writing = (operation: 'put' | 'set') =>
    prepared(handle, write, `transients.${operation}`, (key, value, expires_at, now, owner) => {
      const row = { value, count: 0, expires_at, owner }
      return write
        .insertInto('oauth2server_transient')
        .values({ key, ...row })
        .onConflict((c) => {
          const overwritten = c.column('key').doUpdateSet(row)
          // Overwrite an expired row that the sweeper has not deleted yet.
          return operation === 'set'
            ? overwritten
            : overwritten.where('oauth2server_transient.expires_at', '<=', now)
        })
        .returning('key')
    })
  // In PostgreSQL, one statement writes the value and deletes the surplus, so that there is one round trip. The statement
  // skips locked rows, because a concurrent statement is deleting them.
  const writingOnce = (operation: 'put' | 'set') =>
    writeShared(
      // A value that is replaced may be locked, and must not delay other values.
      operation === 'put' ? handle : { ...handle, hot: undefined },
      `transients.${operation}`,
      {
        key: 'text',
        value: 'text',
        expires_at: 'bigint',
        now: 'bigint',
        owner: 'text',
        kept: 'integer',
      },
      sql`, surplus as (
        delete from oauth2server_transient where key = any(array(
          select key from oauth2server_transient where key = any(array(
            select old.key from g cross join lateral (
              select key from oauth2server_transient as t where t.owner = g.owner and t.key <> g.key
              order by t.expires_at desc offset g.kept
            ) as old
          )) for update skip locked
        ))
      ), written as (
        insert into oauth2server_transient as t (key, value, count, expires_at, owner)
        select distinct on (key) key, value, 0, expires_at, owner from g order by key, given
        on conflict (key) do update
        set value = excluded.value, count = 0, expires_at = excluded.expires_at, owner = excluded.owner
        ${operation === 'set' ? sql`` : sql`where t.expires_at <= (select min(now) from g)`}
        returning key
      ) select min(given) as given from g where key in (select key from written) group by key`,
    )
  const writer = (operation: 'put' | 'set'): Transients['put'] => {
    if (locking) {
      const write = writingOnce(operation)
      return async (key, value, expires_at, now, room) => {
        const { owner = null, most = 1 } = room ?? {}
        return (await write({ key, value, expires_at, now, owner, kept: most - 1 })) !== undefined
      }
    }
    const write = writing(operation)
    return async (key, value, expiresAt, now, room) => {
      if (room) await surplus(room.owner, key, room.most - 1)
      const { rows } = await write(key, value, expiresAt, now, room?.owner ?? null)
      return rows.length > 0
    }
  }
  const [put, set] = [writer('put'), writer('set')]
  const live = (now: number | RawBuilder<never>) =>
    read
      .selectFrom('oauth2server_transient')
      .select(['key', 'value', 'count', 'expires_at as expiresAt'])
      .where(unindexed('expires_at'), '>', now)
  const get = lookupBy(handle, 'transients.get', { key: 'text', now: 'bigint' }, (key, now) =>
    live(now).where('key', '=', key),
  )
  const take = prepared(handle, write, 'transients.take', (key, now) =>
    write
      .deleteFrom('oauth2server_transient')
      .where('key', '=', key)
      .where(unindexed('expires_at'), '>', now)
      .returning('value'),
  )
  const increment = prepared(handle, write, 'transients.increment', (key, expires_at, now, by) =>
    write
      .insertInto('oauth2server_transient')
      .values({ key, value: null, count: by, expires_at, owner: null })
      .onConflict((c) =>
        c.column('key').doUpdateSet((set) => ({
          count: set
            .case()
            .when('oauth2server_transient.expires_at', '<=', now)
            .then(by)
            .else(set('oauth2server_transient.count', '+', by))
            .end(),
          expires_at,
        })),
      )
      .returning('count'),
  )
  const remove = prepared(handle, write, 'transients.delete', (key) =>
    write.deleteFrom('oauth2server_transient').where('key', '=', key),
  )
  return {
    put,

    async set(key, value, expiresAt, now, room) {
      await set(key, value, expiresAt, now, room)
    },

    async get(keys, now) {
      if (keys.length === 1) return [transientOf(await get(keys[0], now))]
      const rows = await live(now).where('key', 'in', keys).execute()
      const found = new Map(rows.map((row) => [row.key, row]))
      return keys.map((key) => transientOf(found.get(key)))
    },

    async take(key, now) {
      const { rows } = await take(key, now)
      return rows[0]?.value ?? undefined
    },

    async increment(key, expiresAt, now, by = 1) {
      const { rows } = await increment(key, expiresAt, now, by)
      return rows[0]?.count ?? by
    },

    async delete(key) {
      await remove(key)
    },

    deleteExpired: transientRows(handle).deleteExpired,
  }
}
