import { type RawBuilder, sql } from 'kysely'
import type { Room, Transients } from '../contract/transients.ts'
import { type Handle, unindexed } from './handle.ts'

/** Stores short-lived values in the database, so that no other system is required and a restart loses no values. */
export const sqlTransients = ({ read, write, purge, locking }: Handle): Transients => {
  /**
   * The values to delete before an owner gets another value. The statement skips locked rows, because a concurrent
   * statement is deleting them.
   */
  const surplus = ({ owner, most }: Room, key: string): RawBuilder<unknown> => sql`
    delete from oauth2server_transient where key in (
      select key from oauth2server_transient where key in (
        select key from oauth2server_transient where owner = ${owner} and key <> ${key}
        order by expires_at desc limit ${locking ? sql`all` : sql`-1`} offset ${most - 1}
      ) ${locking ? sql`for update skip locked` : sql``}
    )`
  // In PostgreSQL, one statement writes the value and deletes the surplus, so that there is one round trip.
  const writing = async (key: string, room: Room | undefined) => {
    if (!room) return write
    if (locking) return write.with('surplus', () => sql`(${surplus(room, key)})` as never)
    await surplus(room, key).execute(write)
    return write
  }
  return {
    async put(key, value, expiresAt, now, room) {
      const owner = room?.owner ?? null
      const row = await (await writing(key, room))
        .insertInto('oauth2server_transient')
        .values({ key, value, count: 0, expires_at: expiresAt, owner })
        // Overwrite an expired row that the sweeper has not deleted yet.
        .onConflict((c) =>
          c
            .column('key')
            .doUpdateSet({ value, count: 0, expires_at: expiresAt, owner })
            .where('oauth2server_transient.expires_at', '<=', now),
        )
        .returning('key')
        .executeTakeFirst()
      return row !== undefined
    },

    async set(key, value, expiresAt, _now, room) {
      const row = { value, count: 0, expires_at: expiresAt, owner: room?.owner ?? null }
      await (await writing(key, room))
        .insertInto('oauth2server_transient')
        .values({ key, ...row })
        .onConflict((c) => c.column('key').doUpdateSet(row))
        .execute()
    },

    async get(key, now) {
      const row = await read
        .selectFrom('oauth2server_transient')
        .select('value')
        .where('key', '=', key)
        .where(unindexed('expires_at'), '>', now)
        .executeTakeFirst()
      return row?.value ?? undefined
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
      const row = await write
        .deleteFrom('oauth2server_transient')
        .where('key', '=', key)
        .where(unindexed('expires_at'), '>', now)
        .returning('value')
        .executeTakeFirst()
      return row?.value ?? undefined
    },

    async increment(key, expiresAt, now, by = 1) {
      const row = await write
        .insertInto('oauth2server_transient')
        .values({ key, value: null, count: by, expires_at: expiresAt, owner: null })
        .onConflict((c) =>
          c.column('key').doUpdateSet((set) => ({
            count: set
              .case()
              .when('oauth2server_transient.expires_at', '<=', now)
              .then(by)
              .else(set('oauth2server_transient.count', '+', by))
              .end(),
            expires_at: expiresAt,
          })),
        )
        .returning('count')
        .executeTakeFirstOrThrow()
      return row.count
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
      await write.deleteFrom('oauth2server_transient').where('key', '=', key).execute()
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
