import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { ClientLogin, ClientLoginStore, EndedLogin } from '../contract/client-logins.ts'
import { type Handle, prepared, valuesOf } from './handle.ts'
import type { Tables } from './tables.ts'

// Without an authorization, use one ID per session and client, because the client may receive many ID tokens.
const idOf = ({ authorizationId, sid, clientKey }: ClientLogin): string =>
  authorizationId === null ? `${sid} ${clientKey}` : String(authorizationId)

type Row = Selectable<Tables['oauth2server_client_login']>

export const loginColumns = [
  'id',
  'session_id',
  'sid',
  'client_key',
  'user_id',
  'authorization_id',
  'is_offline',
  'expires_at',
] as const satisfies readonly (keyof Row)[]

export const loginRow = (login: ClientLogin): Row => ({
  id: idOf(login),
  session_id: login.session,
  sid: login.sid,
  client_key: login.clientKey,
  user_id: login.userId,
  authorization_id: login.authorizationId,
  is_offline: login.isOffline ? 1 : 0,
  expires_at: login.expiresAt,
})

export const sqlClientLogins = (handle: Handle): ClientLoginStore => {
  const { read, write, purge } = handle
  const insert = prepared(
    handle,
    write,
    'clientLogins.insert',
    (...values) =>
      write
        .insertInto('oauth2server_client_login')
        .values(valuesOf(loginColumns, values))
        .onConflict((c) => c.doNothing()),
    loginColumns.length,
  )
  const withClients = async (rows: readonly Row[]): Promise<readonly EndedLogin[]> => {
    if (rows.length === 0) return []
    const keys = [...new Set(rows.map((row) => row.client_key))]
    const clients = await read
      .selectFrom('oauth2server_client')
      .select(['client_key', 'client_id'])
      .where('client_key', 'in', keys)
      .execute()
    const ids = new Map(clients.map((client) => [client.client_key, client.client_id]))
    return rows.map((row) => ({
      session: row.session_id,
      sid: row.sid,
      clientKey: row.client_key,
      userId: row.user_id,
      authorizationId: row.authorization_id,
      isOffline: row.is_offline === 1,
      expiresAt: row.expires_at,
      clientId: ids.get(row.client_key),
    }))
  }

  const take = async (condition: RawBuilder<boolean>): Promise<readonly EndedLogin[]> =>
    withClients(
      await write.deleteFrom('oauth2server_client_login').where(condition).returningAll().execute(),
    )

  return {
    async insert(login) {
      const row = loginRow(login)
      await insert(...loginColumns.map((name) => row[name]))
    },

    async deleteOf(authorizationId) {
      await write
        .deleteFrom('oauth2server_client_login')
        .where('id', '=', String(authorizationId))
        .execute()
    },

    async move(from, to) {
      await write
        .updateTable('oauth2server_client_login')
        .set({ session_id: to })
        .where('session_id', '=', from)
        .execute()
    },

    takeOfSession: (session) => take(sql`session_id = ${session}`),
    takeOfUser: (userId) => take(sql`user_id = ${userId}`),
    takeEnded: (userId) =>
      take(
        sql`user_id = ${userId} and not exists (select 1 from oauth2server_session as s where s.id = session_id)`,
      ),

    async deleteExpired(now, limit) {
      const expired = read
        .selectFrom('oauth2server_client_login')
        .select('id')
        .where('expires_at', '<=', now)
        .orderBy('expires_at')
        .limit(limit)
      const { numDeletedRows } = await purge
        .deleteFrom('oauth2server_client_login')
        .where('id', 'in', expired)
        .where('expires_at', '<=', now)
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}
