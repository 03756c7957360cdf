import { sql } from 'kysely'
import { type SessionRow, type StoredSession, sessionCodec } from '../../model/entities/session.ts'
import type { SessionStore } from '../contract/sessions.ts'
import { byKey, type Handle, holds, isAmong, lookup, onceFor, type TableHandle } from './handle.ts'
import { page, placeOf } from './page.ts'
import { isThere, type JoinedUser, joinedUser, userColumnsOf, userSource } from './user-source.ts'

const { columns, fromRow } = sessionCodec

/** The columns of a joined session with the alias `n`. */
export const joinedSessionColumns = columns.map((name) => `n.${name} as n_${name}` as const)

/** Returns the session of a joined row, or undefined if the join matched no session. */
export const joinedSession = (
  row: Readonly<Record<`n_${keyof SessionRow}`, unknown>>,
): StoredSession | undefined =>
  row.n_id === null
    ? undefined
    : fromRow(
        Object.fromEntries(
          columns.map((name) => [name, row[`n_${name}`]]),
        ) as unknown as SessionRow,
      )

/**
 * The maximum number of sessions that one call of `deleteOldest` deletes. Usually, one session is surplus. After the
 * limit of sessions was lowered, many sessions may be surplus.
 */
const maxDeleted = 100

/** Selects the sessions of users who still exist. */
export const liveSessions = (handle: TableHandle) =>
  handle.read
    .selectFrom('oauth2server_session as s')
    .leftJoin(userSource(handle, 'u'), (join) => join.on(byKey(handle, 'u.id', 's.user_id')))
    .where(isThere(handle, { userId: 's.user_id', createdAt: 's.created_at' }, 'u'))

export const sqlSessions = (handle: Handle): SessionStore => {
  const { read, write, purge } = handle
  const withUser = lookup(
    handle,
    'sessions.find',
    (match) =>
      liveSessions(handle)
        .selectAll('s')
        .select(userColumnsOf(handle))
        .where(match('s.id'))
        .$if(holds(handle), (q) => q.forShare(['s'])),
    ({ id }) => id,
  )
  const fromJoined = onceFor((row: SessionRow & JoinedUser) => ({
    session: fromRow(row),
    user: joinedUser(handle, row),
  }))
  return {
    async find(id) {
      const row = await withUser(id)
      return row && fromJoined(row)
    },

    async ofUser(userId, { after, limit }) {
      const place = placeOf(after)
      const rows = await read
        .selectFrom('oauth2server_session')
        .selectAll()
        .where('user_id', '=', userId)
        .$if(place !== undefined, (q) =>
          q.where(sql<boolean>`(created_at, id) < (${place?.[0]}, ${place?.[1]})`),
        )
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .execute()
      return page(rows, limit, fromRow, (row) => [row.created_at, row.id])
    },

    async insert(session) {
      const row = await write
        .insertInto('oauth2server_session')
        .values(sessionCodec.toRow(session))
        .onConflict((c) => c.doNothing())
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },

    async touch({ id, lastSeenAt, seal }) {
      await write
        .updateTable('oauth2server_session')
        .set({ last_seen_at: lastSeenAt, seal })
        .where('id', '=', id)
        .execute()
    },

    async delete(id) {
      const { numDeletedRows } = await write
        .deleteFrom('oauth2server_session')
        .where('id', '=', id)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },

    async deleteOfUser(userId, except) {
      const { numDeletedRows } = await write
        .deleteFrom('oauth2server_session')
        .where('user_id', '=', userId)
        .$if(except !== undefined, (q) => q.where('id', '!=', except ?? ''))
        .executeTakeFirst()
      return Number(numDeletedRows)
    },

    async deleteOldest(userId, keep, { now, idleSince }) {
      const oldest = write
        .selectFrom('oauth2server_session')
        .select('id')
        .where('user_id', '=', userId)
        .where('expires_at', '>', now)
        .where('last_seen_at', '>', idleSince)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(maxDeleted)
        .offset(keep)
      const { numDeletedRows } = await write
        .deleteFrom('oauth2server_session')
        .where(isAmong(handle, 'id', oldest))
        .executeTakeFirst()
      return Number(numDeletedRows)
    },

    async deleteExpired(now, idleSince, limit) {
      // Filter by one column per statement, because each column has an index. For a condition on both columns, a
      // database may read all rows before it applies the limit.
      const deleteBy = async (column: 'expires_at' | 'last_seen_at', end: number, max: number) => {
        const ended = read
          .selectFrom('oauth2server_session')
          .select('id')
          .where(column, '<=', end)
          .orderBy(column)
          .limit(max)
        const { numDeletedRows } = await purge
          .deleteFrom('oauth2server_session')
          .where('id', 'in', ended)
          // Check the time again, because the session may have been used while this statement waited for the lock.
          .where(column, '<=', end)
          .executeTakeFirst()
        return Number(numDeletedRows)
      }
      const expired = await deleteBy('expires_at', now, limit)
      return expired + (await deleteBy('last_seen_at', idleSince, limit - expired))
    },
  }
}
