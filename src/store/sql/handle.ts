import type { CompiledQuery, Kysely } from 'kysely'
import type { Tables } from './tables.ts'
import type { Users } from './user-source.ts'

/** Where statements go. Outside a transaction, reads never wait for a writer. */
export interface Handle {
  readonly read: Kysely<Tables>
  readonly write: Kysely<Tables>
  readonly users: Users
}

/**
 * A statement that is built and compiled once; each run only brings its parameters, in the order in
 * which they stand in the statement. For the hot paths: the builder costs three times the query.
 */
export const prepared = <Row>(statement: CompiledQuery<Row>) => {
  return async (db: Kysely<Tables>, parameters: readonly unknown[]): Promise<readonly Row[]> => {
    const result = await db.executeQuery<Row>({ ...statement, parameters })
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
