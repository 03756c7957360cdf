import type { CompiledQuery } from 'kysely'
import type { TokenValues } from './tokens/columns.ts'
import type { RotationValues } from './tokens/rotation.ts'

/** A look-up of rows by a text key, compiled for one key and for a list of keys. */
export interface Lookup<Row> {
  readonly one: CompiledQuery<Row>
  readonly many: CompiledQuery<Row>
  /** Returns the key of a row. */
  readonly keyOf: (row: Row) => string
}

/**
 * The statements of token requests and bearer checks, which are prepared once. Each statement runs in a separate
 * transaction, or in a batch with concurrent statements, so it cannot be part of another transaction.
 */
export interface HotPaths {
  /** Prepares a look-up. Must be called once for each kind. */
  lookup<Row>(lookup: Lookup<Row>): (key: string) => Promise<Row | undefined>
  /** Inserts a token and returns its ID, or undefined on a unique violation. @throws ClientChanged */
  insertToken(token: TokenValues, clientVersion?: string): Promise<number | undefined>
  /** Returns false if the refresh token is no longer the current one. @throws UniqueViolation */
  rotate(rotation: RotationValues): Promise<boolean>
}
