import type { Insertable, Selectable } from 'kysely'
import type { Sealed } from '../../crypto/sealed.ts'
import type { ConsentStore, SealedConsent } from '../store.ts'
import { type Handle, holds, joined, split } from './handle.ts'
import type { Tables } from './tables.ts'

/** The row of a consent as the records know it. */
export const fromRow = (row: Selectable<Tables['oauth2server_consent']>): SealedConsent => ({
  consent: {
    id: row.id,
    userId: row.user_id,
    clientId: row.client_id,
    scopes: split(row.scopes),
    declinedScopes: split(row.declined_scopes),
    grantedAt: row.granted_at,
  },
  seal: row.seal as Sealed,
})

const toRow = ({ consent, seal }: SealedConsent): Insertable<Tables['oauth2server_consent']> => ({
  id: consent.id,
  user_id: consent.userId,
  client_id: consent.clientId,
  scopes: joined(consent.scopes),
  declined_scopes: joined(consent.declinedScopes),
  granted_at: consent.grantedAt,
  seal,
})

export const sqlConsents = (handle: Handle): ConsentStore => {
  const { read, write } = handle
  return {
    async find(userId, clientId) {
      const row = await read
        .selectFrom('oauth2server_consent')
        .selectAll()
        .where('user_id', '=', userId)
        .where('client_id', '=', clientId)
        .$if(holds(handle), (q) => q.forNoKeyUpdate())
        .executeTakeFirst()
      return row && fromRow(row)
    },

    async insert(consent) {
      const row = await write
        .insertInto('oauth2server_consent')
        .values(toRow(consent))
        .onConflict((c) => c.columns(['user_id', 'client_id']).doNothing())
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },

    async put(consent) {
      const row = toRow(consent)
      await write
        .insertInto('oauth2server_consent')
        .values(row)
        .onConflict((c) => c.columns(['user_id', 'client_id']).doUpdateSet(row))
        .execute()
    },

    async delete(userId, clientId) {
      const { numDeletedRows } = await write
        .deleteFrom('oauth2server_consent')
        .where('user_id', '=', userId)
        .where('client_id', '=', clientId)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },

    async deleteOfUser(userId) {
      await write.deleteFrom('oauth2server_consent').where('user_id', '=', userId).execute()
    },

    async ofUser(userId, clientIds) {
      if (clientIds.length === 0) return []
      const rows = await read
        .selectFrom('oauth2server_consent')
        .selectAll()
        .where('user_id', '=', userId)
        .where('client_id', 'in', clientIds)
        .execute()
      return rows.map(fromRow)
    },

    async ofClient(clientId) {
      const rows = await read
        .selectFrom('oauth2server_consent')
        .selectAll()
        .where('client_id', '=', clientId)
        .execute()
      return rows.map(fromRow)
    },

    async deleteOfClient(clientId) {
      await write.deleteFrom('oauth2server_consent').where('client_id', '=', clientId).execute()
    },
  }
}
