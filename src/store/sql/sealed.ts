import { type Selectable, sql } from 'kysely'
import { checkpointCodec } from '../../model/entities/audit-checkpoint.ts'
import { clientCodec } from '../../model/entities/client.ts'
import { consentCodec } from '../../model/entities/consent.ts'
import { split } from '../../model/entities/field.ts'
import { rotatedTokenCodec } from '../../model/entities/rotated-token.ts'
import { sessionCodec } from '../../model/entities/session.ts'
import { signingKeyCodec } from '../../model/entities/signing-key.ts'
import { userCodec } from '../../model/entities/user.ts'
import type { SealedStore } from '../contract/sealed.ts'
import type { Handle } from './handle.ts'
import { sealedRows } from './sealed-rows.ts'
import type { Tables } from './tables.ts'
import { fromRow as tokenFromRow } from './tokens/columns.ts'

// Seals do not cover the client ID, because a user can reset the ID of a client.
const withoutClientId = { client_id: '' }

type TokenRow = Selectable<Tables['oauth2server_token']> & {
  readonly granted: string | null
  readonly granted_resources: string | null
  readonly granted_at: number | null
}
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
    fromRow: (row: UserRow) => userCodec.fromRow(row),
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
    fromRow: rotatedTokenCodec.fromRow,
  }),
  clients: sealedRows(handle, {
    table: 'oauth2server_client',
    key: ['client_key'],
    columns: ['seal', 'state_seal'],
    fromRow: clientCodec.fromRow,
  }),
  consents: sealedRows(handle, {
    table: 'oauth2server_consent',
    key: ['user_id', 'client_key'],
    columns: ['seal'],
    fromRow: (row: Selectable<Tables['oauth2server_consent']>) =>
      consentCodec.fromRow({ ...row, ...withoutClientId }),
  }),
  sessions: sealedRows(handle, {
    table: 'oauth2server_session',
    key: ['id'],
    columns: ['seal'],
    fromRow: sessionCodec.fromRow,
  }),
  users: builtInUsers(handle),
  signingKeys: sealedRows(handle, {
    table: 'oauth2server_signing_key',
    key: ['id'],
    columns: ['private_key'],
    fromRow: signingKeyCodec.fromRow,
  }),
  auditCheckpoints: sealedRows(handle, {
    table: 'oauth2server_audit_checkpoint',
    key: ['number'],
    columns: ['seal'],
    fromRow: checkpointCodec.fromRow,
  }),
})
