import { type RawBuilder, sql } from 'kysely'
import { clientLoginCodec } from '../../model/entities/client-login.ts'
import type { ClientLoginStore } from '../contract/client-logins.ts'
import { expiring } from './expiring.ts'
import type { Handle } from './handle.ts'
import { rowsOf } from './rows.ts'

/** Adds the current IDs of the clients. */
export const withClientIds = async <T extends { readonly clientKey: number }>(
  { read }: Pick<Handle, 'read'>,
  items: readonly T[],
): Promise<readonly (T & { readonly clientId: string | undefined })[]> => {
  if (items.length === 0) return []
  const clients = await read
    .selectFrom('oauth2server_client')
    .select(['client_key', 'client_id'])
    .where('client_key', 'in', [...new Set(items.map(({ clientKey }) => clientKey))])
    .execute()
  const ids = new Map(clients.map((client) => [client.client_key, client.client_id]))
  return items.map((item) => ({ ...item, clientId: ids.get(item.clientKey) }))
}

export const sqlClientLogins = (handle: Handle): ClientLoginStore => ({
  ...rowsOf(handle, clientLoginCodec),
  ...expiring(handle, { ...clientLoginCodec, end: 'expires_at' }),

  async take(of) {
    const isOf: RawBuilder<boolean> =
      'session' in of
        ? sql`session_id = ${of.session}`
        : of.hasEnded
          ? sql`user_id = ${of.userId} and not exists (select 1 from oauth2server_session as s where s.id = session_id)`
          : sql`user_id = ${of.userId}`
    const rows = await handle.write
      .deleteFrom(clientLoginCodec.table)
      .where(isOf)
      .returningAll()
      .execute()
    return withClientIds(handle, rows.map(clientLoginCodec.fromRow))
  },
})
