import {
  type CompiledQuery,
  type Expression,
  type Kysely,
  type QueryResult,
  type RawBuilder,
  type SelectQueryBuilder,
  sql,
} from 'kysely'
import type { SqlType } from '../../model/entities/field.ts'
import type { UsersLocation } from '../../model/user-table.ts'
import type { HotPaths } from './hot-paths.ts'
import type { Tables } from './tables.ts'

/** The column types that differ between databases. */
export interface ColumnTypes {
  /** The type of an auto-incremented primary key. */
  readonly id: 'integer' | 'bigserial'
  /** The type of a reference to a user. */
  readonly userKey: 'integer' | 'bigint' | 'text' | 'uuid'
}

/** Whether the tables of this package refer to the user table of the application. `migrate` sets `exists`. */
export interface UserForeignKey {
  exists: boolean
}

/** The connections of a store, and the properties of its database. */
export interface Handle {
  readonly read: Kysely<Tables>
  readonly write: Kysely<Tables>
  /**
   * The connection for slow work, such as deleting expired rows. For a SQLite file, the connection runs in a separate
   * thread, so that it does not block the event loop.
   */
  readonly purge: Kysely<Tables>
  readonly users: UsersLocation
  readonly userForeignKey: UserForeignKey
  readonly types: ColumnTypes
  /** Runs work in a transaction. May roll back the transaction and run the work again. */
  readonly transact: <T>(work: (tx: Kysely<Tables>) => Promise<T>) => Promise<T>
  /** Whether transactions can write concurrently, so that a transaction must lock the rows that it reads. */
  readonly locking: boolean
  readonly inTransaction: boolean
  /** Batched operations; undefined inside transactions, and for a database in memory. */
  readonly hot: HotPaths | undefined
  /** Compiled statements by name; see `prepared`. */
  readonly statements: Map<string, Prepared>
}

/** The properties of a store that a query needs. */
export type TableHandle = Pick<Handle, 'read' | 'users' | 'types' | 'locking'>

/** The users that the tables refer to, and the type of their keys. */
export type UserReference = Pick<Handle, 'users' | 'types' | 'userForeignKey'>

type HandleOptions = Omit<Handle, 'inTransaction' | 'statements' | 'transact' | 'userForeignKey'> &
  Partial<Pick<Handle, 'transact' | 'userForeignKey'>>

export const newHandle = (handle: HandleOptions): Handle => ({
  transact: (work) => handle.write.transaction().execute(work),
  userForeignKey: { exists: false },
  ...handle,
  inTransaction: false,
  statements: new Map(),
})

interface Prepared {
  readonly statement: CompiledQuery
  /** For each parameter of the statement, the position of the value; undefined for a constant. */
  readonly positions: readonly (number | undefined)[]
}

/** Stands for a value when a statement is compiled. */
class Placeholder {
  readonly position: number

  constructor(position: number) {
    this.position = position
  }
}

/**
 * Returns a function that runs a statement with values. The statement is built and compiled when it first runs, because
 * building a statement costs three times as much as running it.
 * @param db the connection for the statement
 * @param name a name for each text of the statement. A statement that locks rows in transactions may share its name with
 * the statement outside of transactions.
 * @param build builds the statement from placeholders of the values
 * @param count the number of values
 */
export const prepared = <Row>(
  handle: Pick<Handle, 'statements' | 'locking' | 'inTransaction' | 'hot' | 'write'>,
  db: Kysely<Tables>,
  name: string,
  build: (...values: RawBuilder<never>[]) => { compile(db: Kysely<Tables>): CompiledQuery<Row> },
  count: number = build.length,
): ((...values: readonly unknown[]) => Promise<QueryResult<Row>>) => {
  const { statements, hot, write } = handle
  const key = holds(handle) ? `${name}, held` : name
  const compiled = (): Prepared => {
    const placeholders = Array.from(
      { length: count },
      (_, position) => sql<never>`${new Placeholder(position)}`,
    )
    const statement = build(...placeholders).compile(db)
    const positions = statement.parameters.map((parameter) =>
      parameter instanceof Placeholder ? parameter.position : undefined,
    )
    const made = { statement, positions }
    statements.set(key, made)
    return made
  }
  return async (...values) => {
    const { statement, positions } = statements.get(key) ?? compiled()
    const parameters = positions.map((position, index) =>
      position === undefined ? statement.parameters[index] : values[position],
    )
    if (!hot?.write || db !== write)
      return db.executeQuery<Row>({ ...(statement as CompiledQuery<Row>), parameters })
    const { rows, changes } = await hot.write(statement.sql, parameters)
    return { rows: rows as Row[], numAffectedRows: changes }
  }
}

/** The names and types of the values of a statement. */
type ValueTypes = Readonly<Record<string, SqlType>>

/** Begins a statement with the table `g`, which has a row for each object in the JSON array `rows`. */
const withGiven = (
  { types }: Pick<Handle, 'types'>,
  columns: ValueTypes,
  rows: RawBuilder<never>,
  statement: RawBuilder<unknown>,
) => {
  const all: ValueTypes = { given: 'integer', ...columns }
  const typed = Object.entries(all).map(
    ([name, type]) => `${name} ${type === 'userKey' ? types.userKey : type}`,
  )
  return sql<never>`with g as materialized (
    select * from json_to_recordset(${rows}) as given (${sql.raw(typed.join(', '))})
  ) ${statement}`
}

/**
 * Returns a function that finds one row by several values. If the store shares statements, concurrent calls run one
 * statement.
 * @param build builds the query from the values, in the order of `types`
 */
export const lookupBy = <Row extends object>(
  handle: Handle,
  name: string,
  types: ValueTypes,
  build: (...values: RawBuilder<never>[]) => SelectQueryBuilder<never, never, Row>,
): ((...values: readonly unknown[]) => Promise<Row | undefined>) => {
  const { hot, read } = handle
  const names = Object.keys(types)
  const find = prepared(handle, read, name, build, names.length)
  const alone = async (...values: readonly unknown[]) => (await find(...values)).rows[0]
  if (!hot?.shared) return alone
  // PostgreSQL does not merge a subquery with an offset, so it looks up the row of each object by its indexes.
  const query = build(...names.map((name) => sql.ref<never>(`g.${name}`))).offset(sql.lit(0))
  const found = sql`select g.given, found.* from g cross join lateral ${query} as found`
  const shared = hot.shared<Row>(
    withGiven(handle, types, firstParameter, found).compile(read).sql,
    {
      isWrite: false,
      alone: (values) => alone(...Object.values(values)),
    },
  )
  return (...values) =>
    shared(Object.fromEntries(names.map((name, index) => [name, values[index]])))
}

/**
 * Returns a function that writes a row on PostgreSQL. If the store shares statements, concurrent calls run one statement.
 * @param statement reads the table `g` with the columns of `types`, and selects `g.given` for each written row
 */
export const writeShared = (
  handle: Handle,
  name: string,
  types: ValueTypes,
  statement: RawBuilder<unknown>,
): ((values: object) => Promise<object | undefined>) => {
  const { hot, write } = handle
  const run = prepared(handle, write, name, (rows) => withGiven(handle, types, rows, statement))
  const alone = async (values: object) =>
    (await run(JSON.stringify([{ given: 0, ...values }]))).rows[0]
  if (!hot?.shared) return alone
  const text = withGiven(handle, types, firstParameter, statement).compile(write).sql
  return hot.shared(text, { isWrite: true, alone })
}

const firstParameter = sql.raw<never>('$1')

/** Returns the columns of a row with their placeholders. */
export const valuesOf = <Name extends string>(
  columns: readonly Name[],
  values: readonly RawBuilder<never>[],
): Readonly<Record<Name, RawBuilder<never>>> =>
  Object.fromEntries(columns.map((column, index) => [column, values[index]])) as Record<
    Name,
    RawBuilder<never>
  >

/** Returns whether a read must lock its rows until the transaction ends. */
export const holds = ({
  locking,
  inTransaction,
}: Pick<Handle, 'locking' | 'inTransaction'>): boolean => locking && inTransaction

/** Finds a row by its key. */
export interface Find<Row> {
  (key: string): Promise<Row | undefined>
  /** Returns the cached row of the latest query for this key, or undefined. Does not query the database. */
  readonly recall?: (key: string) => Row | undefined
}

/** Builds the condition that a column equals the key, or is one of the keys. */
export type Match = (column: string) => RawBuilder<boolean>

const placeholder = '' as never
const matchesOne: Match = (column) => sql`${sql.ref(column)} = ${placeholder}`
// The planner cannot see the keys in the subquery, so PostgreSQL keeps one plan for any number of keys. For an array in a
// parameter, it would plan each execution anew.
const matchesMany: Match = (column) =>
  sql`${sql.ref(column)} = any(array(select unnest(${placeholder}::text[])))`

/**
 * Returns a function that finds one row by a text key, with a statement that is compiled once.
 * @param build builds the query, whose only parameter is the key
 */
export const lookup = <Row>(
  handle: Handle,
  name: string,
  build: (match: Match) => { compile(): CompiledQuery<Row> },
  keyOf: (row: Row) => string,
): Find<Row> => {
  const { hot, read, inTransaction } = handle
  if (hot) {
    const [one, many] = [build(matchesOne).compile(), build(matchesMany).compile()]
    return cachingUnchanged(hot.lookup({ one, many, keyOf }))
  }
  const find = prepared(handle, read, name, (key) =>
    build((column) => sql`${sql.ref(column)} = ${key}`),
  )
  const alone = async (key: string) => (await find(key)).rows[0]
  return inTransaction ? alone : cachingUnchanged(alone)
}

/** The maximum number of cached rows per look-up. */
const maxCachedRows = 1_000

// Always queries the database, but returns the cached object if the row is unchanged. The caller then does not have to
// convert the row or open its seals again.
const cachingUnchanged = <Row>(find: (key: string) => Promise<Row | undefined>): Find<Row> => {
  const rows = new Map<string, Row>()
  let columns: readonly (keyof Row)[] | undefined
  const findAgain = async (key: string) => {
    const row = await find(key)
    const before = rows.get(key)
    if (row && columns && before && (before === row || isSame(before, row, columns))) return before
    rows.delete(key)
    if (!row) return row
    columns ??= Object.keys(row) as (keyof Row)[]
    rows.set(key, row)
    if (rows.size > maxCachedRows) rows.delete(rows.keys().next().value ?? '')
    return row
  }
  return Object.assign(findAgain, { recall: (key: string) => rows.get(key) })
}

const isSame = <Row>(before: Row, now: Row, columns: readonly (keyof Row)[]): boolean => {
  for (const column of columns) if (now[column] !== before[column]) return false
  return true
}

/** Caches the results of a conversion, so that each row object is converted only once. */
export const onceFor = <Row extends object, Result extends object>(
  make: (row: Row) => Result,
): ((row: Row) => Result) => {
  const all = new WeakMap<Row, Result>()
  return (row) => {
    const cached = all.get(row)
    if (cached) return cached
    const result = make(row)
    all.set(row, result)
    return result
  }
}

/**
 * Builds the condition of a join that looks up a unique key for each row. With `any`, PostgreSQL must look up each key
 * in its index, and cannot choose a hash or merge join.
 */
export const byKey = (
  { locking }: Pick<Handle, 'locking'>,
  key: string,
  of: string | RawBuilder<unknown>,
): RawBuilder<boolean> => {
  const value = typeof of === 'string' ? sql.ref(of) : of
  return locking ? sql`${sql.ref(key)} = any(array[${value}])` : sql`${sql.ref(key)} = ${value}`
}

/** Builds the condition that a subquery contains a unique key. PostgreSQL evaluates the subquery first. */
export const isAmong = (
  { locking }: Pick<Handle, 'locking'>,
  key: string,
  keys: Expression<unknown>,
): RawBuilder<boolean> =>
  locking ? sql`${sql.ref(key)} = any(array(${keys}))` : sql`${sql.ref(key)} in (${keys})`

/** Prevents the use of an index on the column, so that the database finds the rows by another condition first. */
export const unindexed = (column: string): RawBuilder<number> => sql`${sql.ref(column)} + 0`

/** Builds the subquery for the key of the client with this ID. For an unknown client, the result is null. */
export const keyOf = (clientId: string | RawBuilder<never>): RawBuilder<number> =>
  sql`(select client_key from oauth2server_client where client_id = ${clientId})`
