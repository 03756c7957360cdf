import type { CompiledQuery } from 'kysely'
import type { NewToken } from '../../model/entities/token.ts'
import type { AuthorizationStore } from '../contract/authorizations.ts'
import type { RotationValues } from './tokens/rotation.ts'

/** A look-up of rows by a text key, compiled for one key and for a list of keys. */
export interface Lookup<Row> {
  readonly one: CompiledQuery<Row>
  readonly many: CompiledQuery<Row>
  /** Returns the key of a row. */
  readonly keyOf: (row: Row) => string
}

/**
 * The frequent operations of token requests and bearer checks. Each operation runs in a separate transaction, or in a
 * batch with concurrent operations. Therefore, an operation cannot be part of a transaction of its caller.
 */
export interface HotPaths {
  /**
   * Creates the function for a look-up. All callers must share this function, because it combines concurrent calls into
   * batches.
   */
  lookup<Row>(lookup: Lookup<Row>): (key: string) => Promise<Row | undefined>
  /**
   * Returns a function that runs a statement together with concurrent calls. The only parameter of the statement is a
   * JSON array with an object for each call. The column `given` of a row is the index of its call. Undefined if
   * statements are not shared.
   * @param options.alone runs one call after a batch that failed without effect
   */
  readonly shared?:
    | (<Row extends object>(
        statement: string,
        options: {
          readonly isWrite: boolean
          readonly alone: (values: object) => Promise<Row | undefined>
        },
      ) => (values: object) => Promise<Row | undefined>)
    | undefined
  /** Runs a statement in the commit of concurrent writes; undefined if each statement has a commit of its own. */
  readonly write?: (
    sql: string,
    parameters: readonly unknown[],
  ) => Promise<{ readonly rows: readonly object[]; readonly changes: bigint }>
  readonly insertWithToken: NonNullable<AuthorizationStore['insertWithToken']>
  /**
   * Inserts a token and returns its ID, or undefined on a unique violation.
   * @throws ClientChanged if the insert cannot verify that the client still has this version
   */
  insertToken(token: NewToken, clientVersion?: string): Promise<number | undefined>
  /**
   * Replaces a token pair. Returns false if the pair was replaced or revoked in the meantime.
   * @throws UniqueViolation
   */
  rotate(rotation: RotationValues): Promise<boolean>
}
