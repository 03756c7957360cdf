import { type Selectable, sql } from 'kysely'
import type { Sealed } from '../../crypto/sealed.ts'
import type { SealedStore } from '../contract/sealed.ts'
import { fromRow as checkpointFromRow } from './audit-checkpoints.ts'
import { fromRow as clientFromRow } from './clients.ts'
import { split } from './codecs.ts'
import { fromRow as consentFromRow } from './consents.ts'
import type { Handle } from './handle.ts'
import { signingKeyFromRow } from './keys.ts'
import { sealedRows } from './sealed-rows.ts'
import { fromRow as sessionFromRow } from './sessions.ts'
import type { Tables } from './tables.ts'
import { rotationFromRow, fromRow as tokenFromRow } from './tokens/columns.ts'
import { fromRow as userFromRow } from './users.ts'

// Seals do not cover the client ID, because a user can reset the ID of a client.
const withoutClientId = { client_id: '' }

type TokenRow = Selectable<Tables['oauth2server_token']> & {
  readonly granted: string | null
  readonly granted_resources: string | null
  readonly granted_at: number | null
}
type ClientRow = Selectable<Tables['oauth2server_client']>
type UserRow = Selectable<Tables['oauth2server_user']>

// Read these values of the authorization in the statement that reads the token, so that all values are from one
// snapshot.
const granted = sql`(select a.scopes from oauth2server_authorization as a where a.id = authorization_id) as granted,
  (select a.resources from oauth2server_authorization as a where a.id = authorization_id) as granted_resources,
  (select a.created_at from oauth2server_authorization as a where a.id = authorization_id) as granted_at`

// Only built-in users have sealed rows.
const builtInUsers = (handle: Handle): SealedStore['users'] => {
  const rows = sealedRows(handle, {
    table: 'oauth2server_user',
    key: ['id'],
    columns: ['password_hash', 'seal'],
    fromRow: (row: UserRow) => userFromRow(row),
  })
  if (handle.users === 'built-in') return rows
  return {
    ...rows,
    notUnder: async () => ({ rows: [], next: null }),
    countUnder: async () => ({ rows: 0, isAll: true }),
  }
}

/** All tables with sealed values. */
export const sqlSealed = (handle: Handle): SealedStore => ({
  tokens: sealedRows(handle, {
    table: 'oauth2server_token',
    key: ['id'],
    columns: ['access_token', 'refresh_token'],
    joinedValues: granted,
    fromRow: (row: TokenRow) => ({
      ...tokenFromRow({ ...row, ...withoutClientId }),
      granted: {
        scopes: split(row.granted ?? ''),
        resources: split(row.granted_resources ?? ''),
        createdAt: row.granted_at ?? 0,
      },
    }),
  }),
  rotations: sealedRows(handle, {
    table: 'oauth2server_rotated_refresh_token',
    key: ['digest'],
    columns: ['seal'],
    fromRow: rotationFromRow,
  }),
  clients: sealedRows(handle, {
    table: 'oauth2server_client',
    key: ['client_key'],
    columns: ['seal', 'state_seal'],
    fromRow: (row: ClientRow) => ({
      fields: clientFromRow(row),
      seal: row.seal as Sealed,
      stateSeal: row.state_seal as Sealed,
    }),
  }),
  consents: sealedRows(handle, {
    table: 'oauth2server_consent',
    key: ['user_id', 'client_key'],
    columns: ['seal'],
    fromRow: (row: Selectable<Tables['oauth2server_consent']>) =>
      consentFromRow({ ...row, ...withoutClientId }),
  }),
  sessions: sealedRows(handle, {
    table: 'oauth2server_session',
    key: ['id'],
    columns: ['seal'],
    fromRow: sessionFromRow,
  }),
  users: builtInUsers(handle),
  signingKeys: sealedRows(handle, {
    table: 'oauth2server_signing_key',
    key: ['id'],
    columns: ['private_key'],
    fromRow: signingKeyFromRow,
  }),
  auditCheckpoints: sealedRows(handle, {
    table: 'oauth2server_audit_checkpoint',
    key: ['number'],
    columns: ['seal'],
    fromRow: checkpointFromRow,
  }),
})
