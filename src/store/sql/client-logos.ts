import type { Kysely } from 'kysely'
import type { ClientFields } from '../../model/entities/client.ts'
import { clientLogoCodec } from '../../model/entities/client-logo.ts'
import type { ColumnsOf } from '../../model/entities/entity.ts'
import type { ClientLogoState, ClientLogoStore } from '../contract/client-logos.ts'
import type { Handle } from './handle.ts'
import { readsOf, rowsOf } from './rows.ts'
import type { Tables } from './tables.ts'

/**
 * Updates the row of the logo after a change of its client. Assigns the logo to the new key of a verified client, or
 * deletes the logo of an unverified client.
 */
export const followClient = async (
  db: Kysely<Tables>,
  { clientKey, isVerified, isPersonal }: ClientFields,
  formerKeys: readonly number[],
): Promise<void> => {
  if (isPersonal) return
  if (!isVerified) {
    const keys = [clientKey, ...formerKeys]
    await db.deleteFrom('oauth2server_client_logo').where('client_key', 'in', keys).execute()
  } else if (formerKeys.length > 0) {
    await db
      .updateTable('oauth2server_client_logo')
      .set({ client_key: clientKey })
      .where('client_key', 'in', formerKeys)
      .execute()
  }
}

type StateRow = Pick<ColumnsOf<typeof clientLogoCodec>, 'client_key' | 'requested_at' | 'problem'>

export const sqlClientLogos = (handle: Handle): ClientLogoStore => {
  const { read, write } = handle
  const states = readsOf<ClientLogoState, StateRow, Pick<ClientLogoState, 'clientKey'>, never>(
    handle,
    {
      ...clientLogoCodec,
      alias: 'l',
      query: () =>
        read
          .selectFrom('oauth2server_client_logo as l')
          .select(['l.client_key', 'l.requested_at', 'l.problem']),
      fromRow: (row) => ({
        clientKey: row.client_key,
        isRequested: row.requested_at !== null,
        problem: row.problem,
      }),
    },
  )
  return {
    ...rowsOf(handle, clientLogoCodec),
    select: states.select,

    async claim(before, now) {
      const first = write
        .selectFrom('oauth2server_client_logo')
        .select('client_key')
        .where('requested_at', '<=', before)
        .orderBy('requested_at')
        .limit(1)
      const claimed = await write
        .updateTable('oauth2server_client_logo')
        .set({ requested_at: now })
        .where('client_key', 'in', first)
        .where('requested_at', '<=', before)
        .returning('client_key')
        .executeTakeFirst()
      if (!claimed) return undefined
      const client = await read
        .selectFrom('oauth2server_client')
        .select('client_id')
        .where('client_key', '=', claimed.client_key)
        .executeTakeFirst()
      return client?.client_id
    },

    async find(digest) {
      const row = await read
        .selectFrom('oauth2server_client_logo as l')
        .innerJoin('oauth2server_client as c', 'c.client_key', 'l.client_key')
        .select(['c.client_id', 'l.image'])
        .where('l.digest', '=', digest)
        .whereRef('c.logo', '=', 'l.digest')
        .where('c.is_verified', '=', 1)
        .limit(1)
        .executeTakeFirst()
      return row && row.image !== null ? { clientId: row.client_id, image: row.image } : undefined
    },
  }
}
