import { type CompiledQuery, type Expression, type Kysely, type RawBuilder, sql } from 'kysely'
import type { UserTable } from '../../model/user-table.ts'
import type { HotPaths } from './hot-paths.ts'
import type { Tables } from './tables.ts'

/** How a database names the types in which databases differ. */
export interface ColumnTypes {
  /** Of a primary key that counts up by itself. */
  readonly id: 'integer' | 'bigserial'
  /** Of a reference to a user. */
  readonly userKey: 'integer' | 'bigint' | 'text' | 'uuid'
}

/** Whose users the store joins: its own, a table of the application, or none that it can see. */
export type Users = UserTable | 'built-in' | 'elsewhere'

/** Where statements go. Outside a transaction, reads never wait for a writer. */
export interface Handle {
  readonly read: Kysely<Tables>
  readonly write: Kysely<Tables>
  /** Where expired rows are deleted: what takes its time there holds up no request. */
  readonly purge: Kysely<Tables>
  readonly users: Users
  readonly types: ColumnTypes
  /** Runs work in a transaction, and may roll it back and run it again. */
  readonly transact: <T>(work: (tx: Kysely<Tables>) => Promise<T>) => Promise<T>
  /** Whether several transactions can write at once, so that what one reads has to be locked. */
  readonly locking: boolean
  readonly inTransaction: boolean
  /** Not inside a transaction, and not for a database in memory. */
  readonly hot: HotPaths | undefined
  /** Statements that were built once, by their names. */
  readonly statements: Map<string, CompiledQuery>
}

type Given = Omit<Handle, 'inTransaction' | 'statements' | 'transact'> &
  Partial<Pick<Handle, 'transact'>>

export const newHandle = (handle: Given): Handle => ({
  transact: (work) => handle.write.transaction().execute(work),
  ...handle,
  inTransaction: false,
  statements: new Map(),
})

/** Whether a row that is read has to stay as it is until the transaction ends. */
export const holds = ({ locking, inTransaction }: Handle): boolean => locking && inTransaction

/** A condition that a column has the text that is looked for, or one of those. */
export type Match = (column: string) => RawBuilder<boolean>

const placeholder = '' as never
const matchesOne: Match = (column) => sql`${sql.ref(column)} = ${placeholder}`
const matchesMany: Match = (column) => sql`${sql.ref(column)} = any(${placeholder})`

/**
 * A look-up of one row by a text, whose statement is built and compiled once. For the hot paths: the builder
 * costs three times the query.
 * @param build the query, with the condition as its only parameter
 */
export const lookup = <Row>(
  handle: Handle,
  name: string,
  build: (match: Match) => { compile(): CompiledQuery<Row> },
  keyOf: (row: Row) => string,
): ((key: string) => Promise<Row | undefined>) => {
  const { hot, read, statements } = handle
  if (hot) {
    const [one, many] = [build(matchesOne).compile(), build(matchesMany).compile()]
    return remembering(hot.lookup({ one, many, keyOf }))
  }
  const key = holds(handle) ? `${name}, held` : name
  return async (text) => {
    let statement = statements.get(key) as CompiledQuery<Row> | undefined
    if (!statement) {
      statement = build(matchesOne).compile()
      statements.set(key, statement)
    }
    const { rows } = await read.executeQuery<Row>({ ...statement, parameters: [text] })
    return rows[0]
  }
}

/** Rows of one kind that are remembered. */
const mostRemembered = 1_000

// Looked up every time; but who finds a row as it was gets the very same object, and need not make anything
// of it, nor open what is sealed in it, once more.
const remembering = <Row>(
  find: (key: string) => Promise<Row | undefined>,
): ((key: string) => Promise<Row | undefined>) => {
  const rows = new Map<string, Row>()
  let columns: readonly (keyof Row)[] | undefined
  return async (key) => {
    const row = await find(key)
    const before = rows.get(key)
    if (row && columns && before && (before === row || isSame(before, row, columns))) return before
    rows.delete(key)
    if (!row) return row
    columns ??= Object.keys(row) as (keyof Row)[]
    rows.set(key, row)
    if (rows.size > mostRemembered) rows.delete(rows.keys().next().value ?? '')
    return row
  }
}

const isSame = <Row>(before: Row, now: Row, columns: readonly (keyof Row)[]): boolean => {
  for (const column of columns) if (now[column] !== before[column]) return false
  return true
}

/** What is made of a row: of the very same one, the very same. */
export const onceFor = <Row extends object, Made extends object>(
  make: (row: Row) => Made,
): ((row: Row) => Made) => {
  const all = new WeakMap<Row, Made>()
  return (row) => {
    const known = all.get(row)
    if (known) return known
    const made = make(row)
    all.set(row, made)
    return made
  }
}

/**
 * A join that looks up a unique key for each row that it is given. PostgreSQL has no other plan for it: it cannot begin with
 * this side, and neither hash nor merge.
 */
export const byKey = (
  { locking }: Pick<Handle, 'locking'>,
  key: string,
  of: string | RawBuilder<unknown>,
): RawBuilder<boolean> => {
  const value = typeof of === 'string' ? sql.ref(of) : of
  return locking ? sql`${sql.ref(key)} = any(array[${value}])` : sql`${sql.ref(key)} = ${value}`
}

/** A condition that a unique key is among those of a subquery, which PostgreSQL runs first for the same reason. */
export const isAmong = (
  { locking }: Pick<Handle, 'locking'>,
  key: string,
  keys: Expression<unknown>,
): RawBuilder<boolean> =>
  locking ? sql`${sql.ref(key)} = any(array(${keys}))` : sql`${sql.ref(key)} in (${keys})`

/** A column in a condition that no index can serve: its value is checked in the rows that another condition finds. */
export const unindexed = (column: string): RawBuilder<number> => sql`${sql.ref(column)} + 0`

/** The key of the client with this ID; null if there is no such client. */
export const keyOf = (clientId: string): RawBuilder<number> =>
  sql`(select client_key from oauth2server_client where client_id = ${clientId})`

export const flag = (value: boolean): 0 | 1 => (value ? 1 : 0)

export const joined = (list: readonly string[], separator = ' '): string => list.join(separator)

export const split = (text: string, separator = ' '): readonly string[] =>
  text === '' ? [] : text.split(separator)

export const joinedOrNull = (list: readonly string[] | null): string | null => list && joined(list)

export const splitOrNull = (text: string | null): readonly string[] | null =>
  text === null ? null : split(text)
