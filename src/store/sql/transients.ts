import { type RawBuilder, sql } from 'kysely'
import type { Room, Transients } from '../contract/transients.ts'
import { type Handle, prepared, unindexed } from './handle.ts'

/** Stores short-lived values in the database, so that no other system is required and a restart loses no values. */
export const sqlTransients = (handle: Handle): Transients => {
  const { read, write, purge, locking } = handle
  /**
   * Deletes the surplus values of an owner, without those that expire last. The statement skips locked rows, because a
   * concurrent statement is deleting them.
   */
  const deleteSurplus = (
    owner: RawBuilder<never>,
    key: RawBuilder<never>,
    kept: RawBuilder<never>,
  ) => sql`
    delete from oauth2server_transient where key in (
      select key from oauth2server_transient where key in (
        select key from oauth2server_transient where owner = ${owner} and key <> ${key}
        order by expires_at desc limit ${locking ? sql`all` : sql`-1`} offset ${kept}
      ) ${locking ? sql`for update skip locked` : sql``}
    )`
  const surplus = prepared(handle, write, 'transients.surplus', deleteSurplus)
  const writing = (operation: 'put' | 'set', isCounted: boolean) => {
    const name = `transients.${operation}${isCounted ? ', counted' : ''}`
    return prepared(handle, write, name, (key, value, expires_at, now, owner, kept) => {
      const row = { value, count: 0, expires_at, owner }
      // In PostgreSQL, one statement writes the value and deletes the surplus, so that there is one round trip.
      const into =
        isCounted && locking
          ? write.with('surplus', () => sql`(${deleteSurplus(owner, key, kept)})` as never)
          : write
      return into
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
  }
  const [put, putCounted] = [writing('put', false), writing('put', true)]
  const [set, setCounted] = [writing('set', false), writing('set', true)]
  const makeRoom = async ({ owner, most }: Room, key: string) => {
    if (!locking) await surplus(owner, key, most - 1)
  }
  const get = prepared(handle, read, 'transients.get', (key, now) =>
    read
      .selectFrom('oauth2server_transient')
      .select('value')
      .where('key', '=', key)
      .where(unindexed('expires_at'), '>', now),
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
    async put(key, value, expiresAt, now, room) {
      if (room) await makeRoom(room, key)
      const { rows } = room
        ? await putCounted(key, value, expiresAt, now, room.owner, room.most - 1)
        : await put(key, value, expiresAt, now, null)
      return rows.length > 0
    },

    async set(key, value, expiresAt, now, room) {
      if (room) await makeRoom(room, key)
      if (room) await setCounted(key, value, expiresAt, now, room.owner, room.most - 1)
      else await set(key, value, expiresAt, now, null)
    },

    async get(key, now) {
      const { rows } = await get(key, now)
      return rows[0]?.value ?? undefined
    },

    async getMany(keys, now) {
      const rows = await read
        .selectFrom('oauth2server_transient')
        .select(['key', 'value'])
        .where('key', 'in', keys)
        .where(unindexed('expires_at'), '>', now)
        .execute()
      const values = new Map(rows.map(({ key, value }) => [key, value]))
      return keys.map((key) => values.get(key) ?? undefined)
    },

    async take(key, now) {
      const { rows } = await take(key, now)
      return rows[0]?.value ?? undefined
    },

    async increment(key, expiresAt, now, by = 1) {
      const { rows } = await increment(key, expiresAt, now, by)
      return rows[0]?.count ?? by
    },

    async counts(keys, now) {
      const rows = await read
        .selectFrom('oauth2server_transient')
        .select(['key', 'count', 'expires_at'])
        .where('key', 'in', keys)
        .where(unindexed('expires_at'), '>', now)
        .execute()
      const found = new Map(rows.map((row) => [row.key, row]))
      return keys.map((key) => {
        const row = found.get(key)
        return row && { count: row.count, expiresAt: row.expires_at }
      })
    },

    async delete(key) {
      await remove(key)
    },

    async deleteExpired(now, limit) {
      const expired = read
        .selectFrom('oauth2server_transient')
        .select('key')
        .where('expires_at', '<=', now)
        .orderBy('expires_at')
        .limit(limit)
      const { numDeletedRows } = await purge
        .deleteFrom('oauth2server_transient')
        .where('key', 'in', expired)
        // Check the expiry again, because a new value may have replaced the expired value.
        .where('expires_at', '<=', now)
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}
