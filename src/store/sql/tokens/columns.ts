import type { Selectable } from 'kysely'
import type { TokenFields } from '../../../model/token.ts'
import type { NewToken, StoredRotation, StoredToken } from '../../contract/tokens.ts'
import { flag, joined, split } from '../codecs.ts'
import {
  type Codec,
  type ColumnsOf,
  columnsFor,
  type PropertiesWithoutColumn,
  replaced,
  rowCodec,
} from '../columns.ts'
import type { Flag, Tables } from '../tables.ts'

type TokenTable = Selectable<Tables['oauth2server_token']>
type RotatedTable = Selectable<Tables['oauth2server_rotated_refresh_token']>

/**
 * The columns whose values are derived from a token. The database assigns the ID. `touch` and `noteScopes` write the
 * other columns.
 */
export type TokenValues = Omit<
  TokenTable,
  'id' | 'last_used_at' | 'last_used_address' | 'used_scopes'
>
export type RotatedTokenValues = RotatedTable

/** A token with the current ID of its client, which is a column of another table. */
export type TokenRow = TokenTable & { readonly client_id: string }

type Fields = Omit<TokenFields, 'id' | 'clientId'>
type Secrets = Omit<StoredToken, 'fields' | 'lastUse'>

const boolean: Codec<boolean, Flag> = { encode: flag, decode: (stored) => stored === 1 }
const list: Codec<readonly string[], string> = { encode: joined, decode: split }

/** Returns the time at which the token and its refresh token have both expired; null if the token never expires. */
const endsAt = ({ expires, refreshExpires }: Fields): number | null =>
  expires === null ? null : Math.max(expires, refreshExpires ?? 0)

const field = columnsFor<Fields>()
const secret = columnsFor<Secrets>()

// A rotation writes only the columns marked with `replaced`. The other columns, such as the client and the user, cannot
// change.
const fieldColumns = {
  client_key: field.plain('clientKey', 'bigint'),
  user_id: field.plain('userId', 'userKey'),
  authorization_id: field.plain('authorizationId', 'bigint'),
  parent_id: field.plain('parentId', 'bigint'),
  sector: replaced(field.plain('sector', 'text')),
  login_digest: field.plain('loginDigest', 'text'),
  is_personal: field.encoded('isPersonal', 'integer', boolean),
  is_internal: field.encoded('isInternal', 'integer', boolean),
  token_type: replaced(field.plain('tokenType', 'text')),
  scopes: replaced(field.encoded('scopes', 'text', list)),
  resources: replaced(field.encoded('resources', 'text', list)),
  key_thumbprint: replaced(field.plain('keyThumbprint', 'text')),
  created_at: replaced(field.plain('createdAt', 'bigint')),
  expires: replaced(field.plain('expires', 'bigint')),
  refresh_expires: replaced(field.plain('refreshExpires', 'bigint')),
  ends_at: replaced(field.computed('bigint', endsAt)),
}

const secretColumns = {
  successor_id: secret.plain('successorId', 'bigint'),
  access_token: replaced(secret.plain('accessToken', 'text')),
  access_token_digest: replaced(secret.plain('accessDigest', 'text')),
  refresh_token: replaced(secret.plain('refreshToken', 'text')),
  refresh_token_digest: replaced(secret.plain('refreshDigest', 'text')),
  former_digest: replaced(secret.plain('formerDigest', 'text')),
  former_expires: replaced(secret.plain('formerExpires', 'bigint')),
}

/**
 * Every column of a token's row, in the order of the insert statements. The compiler rejects a column without an entry,
 * and a property of the record without a column.
 */
export const tokenColumns = { ...fieldColumns, ...secretColumns } satisfies {
  readonly [Name in keyof TokenValues]: unknown
}

const rotation = columnsFor<StoredRotation>()

/** Every column of the row of a rotated refresh token. */
export const rotatedTokenColumns = {
  digest: rotation.plain('digest', 'text'),
  authorization_id: rotation.plain('authorizationId', 'bigint'),
  successor: rotation.plain('successor', 'text'),
  parameters: rotation.plain('parameters', 'text'),
  rotated_at: rotation.plain('rotatedAt', 'bigint'),
  seal: rotation.plain('seal', 'text'),
} satisfies ColumnsOf<StoredRotation, RotatedTokenValues>

// The error of the compiler contains the name of the property without a column.
const noneLeft = <_Property extends never>(): void => undefined
noneLeft<PropertiesWithoutColumn<Fields, typeof fieldColumns>>()
noneLeft<PropertiesWithoutColumn<Secrets, typeof secretColumns>>()
noneLeft<PropertiesWithoutColumn<StoredRotation, typeof rotatedTokenColumns>>()

type ColumnName = keyof TokenValues

export const tokenColumnNames = Object.keys(tokenColumns) as readonly ColumnName[]
export const rotatedTokenColumnNames = Object.keys(
  rotatedTokenColumns,
) as readonly (keyof RotatedTokenValues)[]

/** The columns that a rotation and a rewrite set. */
export const replacedColumnNames = tokenColumnNames.filter((name) => tokenColumns[name].isReplaced)

const fieldCodec = rowCodec<Fields, Pick<TokenValues, keyof typeof fieldColumns>>(fieldColumns)
const secretCodec = rowCodec<Secrets, Pick<TokenValues, keyof typeof secretColumns>>(secretColumns)
const rotationCodec = rowCodec<StoredRotation, RotatedTokenValues>(rotatedTokenColumns)

export const toRow = (token: NewToken): TokenValues => {
  const row: Partial<TokenValues> = {}
  fieldCodec.write(token.fields, row)
  secretCodec.write(token, row)
  return row as TokenValues
}

export const fromRow = (row: TokenRow): StoredToken => {
  const fields: Partial<TokenFields> = { id: row.id, clientId: row.client_id }
  fieldCodec.read(row, fields)
  const at = row.last_used_at
  const token: Partial<StoredToken> = {
    fields: fields as TokenFields,
    lastUse: at === null ? null : { at, address: row.last_used_address ?? '' },
  }
  secretCodec.read(row, token)
  return token as StoredToken
}

export const rotationToRow = (rotated: StoredRotation): RotatedTokenValues => {
  const row: Partial<RotatedTokenValues> = {}
  rotationCodec.write(rotated, row)
  return row as RotatedTokenValues
}

export const rotationFromRow = (row: RotatedTokenValues): StoredRotation => {
  const rotated: Partial<StoredRotation> = {}
  rotationCodec.read(row, rotated)
  return rotated as StoredRotation
}
