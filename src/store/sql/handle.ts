import type { CompiledQuery, Kysely } from 'kysely'
import type { Tables } from './tables.ts'
import type { Users } from './user-source.ts'

/** How a database names the types in which databases differ. */
export interface ColumnTypes {
  /** Of a primary key that counts up by itself. */
  readonly id: 'integer' | 'bigserial'
  /** Of a reference to a user. */
  readonly userKey: 'integer' | 'bigint' | 'text' | 'uuid'
}

/** Where statements go. Outside a transaction, reads never wait for a writer. */
export interface Handle {
  readonly read: Kysely<Tables>
  readonly write: Kysely<Tables>
  readonly users: Users
  readonly types: ColumnTypes
  /** Whether several transactions can write at once, so that what one reads has to be locked. */
  readonly locking: boolean
  readonly inTransaction: boolean
  /** Statements that were built once, by their names. */
  readonly statements: Map<string, CompiledQuery>
}

export const newHandle = (handle: Omit<Handle, 'inTransaction' | 'statements'>): Handle => ({
  ...handle,
  inTransaction: false,
  statements: new Map(),
})

/** Whether a row that is read has to stay as it is until the transaction ends. */
export const holds = ({ locking, inTransaction }: Handle): boolean => locking && inTransaction

/**
 * A statement that is built and compiled once; each run only brings its parameters, in the order in
 * which they stand in the statement. For the hot paths: the builder costs three times the query.
 */
export const prepared = <Row>(
  handle: Handle,
  name: string,
  build: () => { compile(): CompiledQuery<Row> },
) => {
  const key = holds(handle) ? `${name}, held` : name
  return async (...parameters: readonly unknown[]): Promise<readonly Row[]> => {
    let statement = handle.statements.get(key) as CompiledQuery<Row> | undefined
    if (!statement) {
      statement = build().compile()
      handle.statements.set(key, statement)
    }
    const result = await handle.read.executeQuery<Row>({ ...statement, parameters })
    return result.rows
  }
}

/** Stands for a parameter while a prepared statement is built. */
export const placeholder = '' as never

export const flag = (value: boolean): 0 | 1 => (value ? 1 : 0)

export const joined = (list: readonly string[], separator = ' '): string => list.join(separator)

export const split = (text: string, separator = ' '): readonly string[] =>
  text === '' ? [] : text.split(separator)

export const joinedOrNull = (list: readonly string[] | null): string | null => list && joined(list)

export const splitOrNull = (text: string | null): readonly string[] | null =>
  text === null ? null : split(text)
