import { sql } from 'kysely'
import { sealedEntities } from '../../model/entities/all.ts'
import { split } from '../../model/entities/field.ts'
import { tokenCodec } from '../../model/entities/token.ts'
import type { SealedStore } from '../contract/sealed.ts'
import type { Handle } from './handle.ts'
import { type SealedTable, sealedRows } from './sealed-rows.ts'

type TokenRow = Parameters<typeof tokenCodec.fromRow>[0] & {
  readonly granted: string | null
  readonly granted_resources: string | null
  readonly granted_at: number | null
}

// Read these values of the authorization in the statement that reads the token, so that all values are from one
// snapshot.
const tokens: SealedTable = {
  ...tokenCodec,
  joinedValues: sql`(select a.scopes from oauth2server_authorization as a where a.id = authorization_id) as granted,
  (select a.resources from oauth2server_authorization as a where a.id = authorization_id) as granted_resources,
  (select a.created_at from oauth2server_authorization as a where a.id = authorization_id) as granted_at`,
  fromRow: (row: TokenRow) => ({
    ...tokenCodec.fromRow(row),
    granted: {
      scopes: split(row.granted ?? ''),
      resources: split(row.granted_resources ?? ''),
      createdAt: row.granted_at ?? 0,
    },
  }),
}

/** All tables with sealed values. Seals do not cover columns of other tables, such as the ID of the client. */
export const sqlSealed = (handle: Handle): SealedStore => {
  const rows = Object.entries<SealedTable>({ ...sealedEntities, tokens }).map(
    ([kind, table]) => [kind, sealedRows(handle, table)] as const,
  )
  const sealed = Object.fromEntries(rows) as unknown as SealedStore
  if (handle.users === 'built-in') return sealed
  // The users of an application have no sealed rows.
  const users: SealedStore['users'] = {
    ...sealed.users,
    notUnder: async () => ({ rows: [], next: null }),
    countUnder: async () => ({ rows: 0, isAll: true }),
  }
  return { ...sealed, users }
}
