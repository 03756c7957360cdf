import type { CompiledQuery } from 'kysely'
import type { TokenValues } from './tokens/columns.ts'
import type { RotationValues } from './tokens/rotation.ts'

/** A look-up of rows by a text, compiled for one text and for a list of texts. */
export interface Lookup<Row> {
  readonly one: CompiledQuery<Row>
  readonly many: CompiledQuery<Row>
  /** Returns the text that a row was found by. */
  readonly keyOf: (row: Row) => string
}

/**
 * The statements of token requests and bearer checks. They are prepared once instead of built for each request. Each runs
 * in a transaction of its own, or in a batch with concurrent ones, so they can't be used inside a transaction.
 */
export interface HotPaths {
  /** Prepares a look-up. Call it once for each kind. */
  lookup<Row>(lookup: Lookup<Row>): (key: string) => Promise<Row | undefined>
  /** Inserts a token and returns its ID, or undefined on a unique violation. */
  insertToken(token: TokenValues): Promise<number | undefined>
  /** Returns false if the refresh token is not the current one any more. @throws UniqueViolation */
  rotate(rotation: RotationValues): Promise<boolean>
}
