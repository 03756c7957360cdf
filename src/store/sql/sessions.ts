import { sql } from 'kysely'
import { type SessionRow, type StoredSession, sessionCodec } from '../../model/entities/session.ts'
import type { SessionStore } from '../contract/sessions.ts'
import { countRows } from './count.ts'
import { expiredRows, expiring } from './expiring.ts'
import { byKey, type Handle, holds, isAmong, lookup, onceFor, type TableHandle } from './handle.ts'
import { pagesOf } from './listed.ts'
import { rowsOf } from './rows.ts'
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

// Each statement filters by one column, because each column has an index. For a condition on both columns, a database may
// read all rows before it applies the limit.
const byEnd = { ...sessionCodec, end: 'expires_at' }
const byUse = { ...sessionCodec, end: 'last_seen_at' }

/** Selects the sessions of users who still exist. */
export const liveSessions = (handle: TableHandle) =>
  handle.read
    .selectFrom('oauth2server_session as s')
    .leftJoin(userSource(handle, 'u'), (join) => join.on(byKey(handle, 'u.id', 's.user_id')))
    .where(isThere(handle, { userId: 's.user_id', createdAt: 's.created_at' }, 'u'))

export const sqlSessions = (handle: Handle): SessionStore => {
  const { read, write } = handle
  const readPage = pagesOf(['created_at', 'id'])
  const rows = rowsOf(handle, sessionCodec)
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
    ...rows,

    async find(id) {
      const row = await withUser(id)
      return row && fromJoined(row)
    },

    list(_, { userId }, cursor) {
      const ofUser = read.selectFrom('oauth2server_session').selectAll()
      return readPage(ofUser.where('user_id', '=', userId), cursor, fromRow)
    },

    async deleteSurplus({ userId, now, idleSince }, { keep, limit }) {
      const oldest = write
        .selectFrom('oauth2server_session')
        .select('id')
        .where('user_id', '=', userId)
        .where('expires_at', '>', now)
        .where('last_seen_at', '>', idleSince)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .offset(keep)
      const { numDeletedRows } = await write
        .deleteFrom('oauth2server_session')
        .where(isAmong(handle, 'id', oldest))
        .executeTakeFirst()
      return Number(numDeletedRows)
    },

    async deleteExpired({ now, idleSince }, limit) {
      const ended = await expiring(handle, byEnd).deleteExpired(now, limit)
      return ended + (await expiring(handle, byUse).deleteExpired(idleSince, limit - ended))
    },

    async countExpired({ now, idleSince }, max) {
      const either = sql`select * from (${expiredRows(byEnd, now, max)}) as ended union select * from (${expiredRows(byUse, idleSince, max)}) as idle`
      return Math.min(max, await countRows(handle.read, either))
    },
  }
}
