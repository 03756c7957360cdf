import type { CompiledQuery, Insertable } from 'kysely'
import type { Tables } from './tables.ts'

/** A look-up by one text: written for one text, and for a list of them. */
export interface Lookup<Row> {
  readonly one: CompiledQuery<Row>
  readonly many: CompiledQuery<Row>
  /** The text that a row was found by. */
  readonly keyOf: (row: Row) => string
}

export type TokenValues = Required<Omit<Insertable<Tables['oauth2server_token']>, Unwritten>>

// Written by others: the database, and the uses that are gathered.
type Unwritten = 'id' | 'last_used_at' | 'last_used_address'

export interface RotationValues {
  readonly id: number
  readonly authorizationId: number
  /** The digest of the refresh token that is replaced. */
  readonly current: string
  readonly next: TokenValues
  readonly rotated: Insertable<Tables['oauth2server_rotated_refresh_token']>
  /** When the authorization ends at the earliest. */
  readonly endsAt: number
}

/**
 * What every token request and every bearer check does, past the builder: statements that are ready, each
 * in a transaction of its own, or joined where many come at once. Not for use inside a transaction.
 */
export interface HotPaths {
  /** Called once for each kind of look-up. */
  lookup<Row>(lookup: Lookup<Row>): (key: string) => Promise<Row | undefined>
  /** Undefined where a unique value is taken. */
  insertToken(token: TokenValues): Promise<number | undefined>
  /** False where the refresh token is another one by now. @throws UniqueViolation */
  rotate(rotation: RotationValues): Promise<boolean>
}

/** The columns of a token in one order. */
export const tokenColumns = [
  'client_key',
  'user_id',
  'authorization_id',
  'token_type',
  'access_token',
  'access_token_digest',
  'refresh_token',
  'refresh_token_digest',
  'expires',
  'refresh_expires',
  'ends_at',
  'scopes',
  'is_personal',
  'is_internal',
  'created_at',
  'successor_id',
  'resources',
  'key_thumbprint',
  'parent_id',
] as const satisfies readonly (keyof TokenValues)[]

/** Whose a token is stays so when its pair is swapped. To write it all the same would cost its indexes and foreign keys. */
const keptColumns = new Set<keyof TokenValues>([
  'client_key',
  'user_id',
  'authorization_id',
  'is_personal',
  'is_internal',
  'successor_id',
  'parent_id',
])

/** What a rotation writes of a token. */
export const swappedColumns = tokenColumns.filter((column) => !keptColumns.has(column))

export const rotatedColumns = [
  'digest',
  'authorization_id',
  'successor',
  'parameters',
  'rotated_at',
  'seal',
] as const satisfies readonly (keyof RotationValues['rotated'])[]
