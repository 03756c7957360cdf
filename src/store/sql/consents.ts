import { type RawBuilder, sql } from 'kysely'
import { consentCodec } from '../../model/entities/consent.ts'
import type { ConsentStore } from '../contract/authorizations.ts'
import { changedRows } from './count.ts'
import { byKey, type Handle, keyOf, lookupBy, type TableHandle } from './handle.ts'
import { readsOf, rowsOf } from './rows.ts'
import { joinedSession, joinedSessionColumns } from './sessions.ts'
import {
  hasCreationTimes,
  isOlderThanUser,
  isThere,
  joinedUser,
  userColumnsOf,
  userSource,
} from './user-source.ts'

/** The maximum number of consents that one statement deletes. */
const maxPerStatement = 100

/**
 * Selects the consents without those of deleted users, deleted clients and clients of deleted owners. These rows remain
 * until the sweeper deletes them.
 */
export const liveConsents = (handle: TableHandle) =>
  handle.read
    .selectFrom('oauth2server_consent as s')
    .innerJoin('oauth2server_client as c', (join) =>
      join.on(byKey(handle, 'c.client_key', 's.client_key')),
    )
    .leftJoin(userSource(handle, 'o'), (join) => join.on(byKey(handle, 'o.id', 'c.user_id')))
    .leftJoin(userSource(handle, 'u'), (join) => join.on(byKey(handle, 'u.id', 's.user_id')))
    .selectAll('s')
    .select('c.client_id')
    .where(isThere(handle, { userId: 'c.user_id', createdAt: 'c.created_at' }, 'o'))
    .where(isThere(handle, { userId: 's.user_id', createdAt: 's.granted_at' }, 'u'))

export const sqlConsents = (handle: Handle): ConsentStore => {
  const { write, hot, locking } = handle
  const ofClient = (clientId: RawBuilder<never>) =>
    liveConsents(handle).where('s.client_key', '=', keyOf(clientId))
  const findOfSession = lookupBy(
    handle,
    'consents.findOfSession',
    { session_id: 'text', client_id: 'text' },
    (sessionId, clientId) =>
      ofClient(clientId).where('s.user_id', '=', ({ selectFrom }) =>
        selectFrom('oauth2server_session').select('user_id').where('id', '=', sessionId),
      ),
  )
  // PostgreSQL inserts the rows in one statement, so their IDs must be known before.
  const nextId = (table: string) =>
    sql<number>`nextval(pg_get_serial_sequence(${sql.lit(`oauth2server_${table}`)}, 'id'))`
  const grantValues = { user_id: 'userKey', client_id: 'text', session_id: 'text' } as const
  const findGrant = lookupBy(
    handle,
    'consents.findGrant',
    grantValues,
    (userId, clientId, sessionId) =>
      ofClient(clientId)
        .leftJoin('oauth2server_session as n', (join) =>
          join
            .on(byKey(handle, 'n.id', sql`cast(${sessionId} as text)`))
            .onRef('n.user_id', '=', 's.user_id')
            .on(isThere(handle, { userId: 'n.user_id', createdAt: 'n.created_at' }, 'u')),
        )
        .select(userColumnsOf(handle))
        .select(joinedSessionColumns)
        .$if(hot !== undefined && locking, (q) =>
          q.select([nextId('authorization').as('authorizationId'), nextId('token').as('tokenId')]),
        )
        .where('s.user_id', '=', userId),
  )
  return {
    ...readsOf(handle, {
      ...consentCodec,
      alias: 's',
      query: () => liveConsents(handle),
      own: {
        clientId: (clientId, ...others) =>
          others.length > 0
            ? sql`c.client_id in (${sql.join([clientId, ...others])})`
            : sql`s.client_key = ${keyOf(clientId)}`,
      },
    }),

    async findGrant(userId, clientId, sessionId) {
      const row = await findGrant(userId, clientId, sessionId)
      if (!row) return undefined
      const { authorizationId, tokenId } = row
      return {
        ...consentCodec.fromRow(row),
        user: joinedUser(handle, row),
        session: joinedSession(row),
        reserved: authorizationId && tokenId ? { authorizationId, tokenId } : undefined,
      }
    },

    async findOfSession(sessionId, clientId) {
      const row = await findOfSession(sessionId, clientId)
      return row && consentCodec.fromRow(row)
    },

    async insert(consent) {
      const row = await write
        .insertInto('oauth2server_consent')
        .values(consentCodec.toRow(consent))
        .onConflict((c) => {
          const conflict = c.columns(['user_id', 'client_key'])
          if (!hasCreationTimes(handle)) return conflict.doNothing()
          // Replace a consent of a former user with the same ID.
          const isFormer = isOlderThanUser(handle, 'oauth2server_consent', 'granted_at')
          return conflict.doUpdateSet(consentCodec.toRow(consent)).where(isFormer)
        })
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },

    put: rowsOf(handle, consentCodec).put,

    async delete(userId, clientId) {
      const ofClient = clientId === null ? sql`1 = 1` : sql`client_key = ${keyOf(clientId)}`
      const some = sql`select client_key from oauth2server_consent where user_id = ${userId} and ${ofClient} limit ${maxPerStatement}`
      const statement = sql`delete from oauth2server_consent where user_id = ${userId} and client_key in (${some})`
      let all = 0
      for (let deleted = maxPerStatement; deleted === maxPerStatement; all += deleted)
        deleted = await changedRows(write, statement)
      return all > 0
    },
  }
}
