import {
  type CompiledQuery,
  type Kysely,
  type QueryResult,
  type RawBuilder,
  type SelectQueryBuilder,
  sql,
} from 'kysely'
import type { Cell } from '../../model/entities/field.ts'
import type { Lock, Reads, Rows } from '../contract/rows.ts'
import { listOf } from './count.ts'
import { type Handle, holds, prepared } from './handle.ts'
import type { Tables } from './tables.ts'

/** The table of an entity, and the conversion of its rows. */
interface Selected<Row> {
  readonly table: string
  readonly key: readonly string[]
  fromRow(row: never): Row
  columnOf(name: string): string
  cellOf(name: string, value: unknown): Cell
}

/** An entity with records of this type. */
interface EntityOf<Row> extends Selected<Row> {
  readonly columns: readonly string[]
  toCells(row: Row): readonly Cell[]
}

/** A condition, and the cells of its values. */
interface Term {
  /** Identifies the text of the condition. */
  readonly name: string
  readonly cells: readonly Cell[]
  /** Whether the condition has a list of values. */
  readonly isList: boolean
  build(values: readonly RawBuilder<never>[]): RawBuilder<unknown>
}

const given = (place: object, name: string): unknown => {
  const value: unknown = Reflect.get(place, name)
  if (value === undefined)
    throw new TypeError(`The place after which rows are listed has no ${name}.`)
  return value
}

/** Builds conditions that are not a comparison of a column, by their names. */
type Conditions = Readonly<
  Record<
    string,
    (value: RawBuilder<never>, ...others: readonly RawBuilder<never>[]) => RawBuilder<unknown>
  >
>

/** Returns the terms of conditions. */
const termsIn =
  (
    codec: Pick<EntityOf<never>, 'columnOf' | 'cellOf'>,
    { alias, own = {} }: { readonly alias?: string; readonly own?: Conditions } = {},
  ) =>
  (where: object): readonly Term[] =>
    Object.entries(where).map(([name, condition]: [string, unknown]) => {
      const column = codec.columnOf(name)
      const of = (operator: string, ...values: readonly unknown[]): Term => ({
        name: `${column} ${operator}`,
        cells: values.map((value) => codec.cellOf(name, value)),
        isList: operator === 'in',
        build(values) {
          const [first, ...others] = values
          if (own[name] && first) return own[name](first, ...others)
          const operand = operator === 'in' ? sql`(${sql.join(values)})` : sql.join(values)
          const ref = sql.ref(alias === undefined ? column : `${alias}.${column}`)
          return sql`${ref} ${sql.raw(operator)} ${operand}`
        },
      })
      if (condition === undefined) throw new TypeError(`The condition for ${name} is undefined.`)
      if (condition === null) return of('is null')
      if (Array.isArray(condition)) return of('in', ...condition)
      if (typeof condition !== 'object') return of('=', condition)
      const limit = condition as { readonly not?: unknown; readonly upTo?: unknown }
      return 'upTo' in limit ? of('<=', limit.upTo) : of('<>', limit.not)
    })

// A condition that was left out by mistake must not select all rows.
const limited = (terms: readonly Term[], table: string): readonly Term[] => {
  if (terms.length === 0) throw new TypeError(`No condition selects rows of ${table}.`)
  return terms
}

/** Runs a statement with conditions. Each text is compiled once, except for statements with lists. */
const run = async <Result>(
  handle: Handle,
  db: Kysely<Tables>,
  name: string,
  terms: readonly Term[],
  others: readonly unknown[],
  build: (
    where: RawBuilder<boolean>,
    others: readonly RawBuilder<never>[],
  ) => { compile(db: Kysely<Tables>): CompiledQuery<Result> },
): Promise<QueryResult<Result>> => {
  const built = (...values: readonly RawBuilder<never>[]) => {
    const left = [...values]
    const parts = terms.map((term) => term.build(left.splice(0, term.cells.length)))
    return build(parts.length === 0 ? sql`1 = 1` : sql`${sql.join(parts, sql` and `)}`, left)
  }
  if (terms.some(({ cells, isList }) => isList && cells.length === 0))
    return { rows: [], numAffectedRows: 0n }
  const values = [...terms.flatMap(({ cells }) => cells), ...others]
  // A statement with a list has many texts, so it is not stored.
  if (terms.some(({ isList }) => isList))
    return db.executeQuery(built(...values.map((value) => sql<never>`${value}`)).compile(db))
  const text = `${name} ${terms.map((term) => term.name)}`
  return prepared(handle, db, text, built, values.length)(...values)
}

/** A query whose rows include columns of other tables. */
interface JoinedEntity<Row, Joined>
  extends Pick<EntityOf<never>, 'table' | 'key' | 'columnOf' | 'cellOf'> {
  /** The alias of the table in the query. */
  readonly alias: string
  query(): SelectQueryBuilder<never, never, Joined>
  fromRow(row: Joined): Row
  /** Conditions other than a comparison of a column of the table. */
  readonly own?: Conditions
}

/** The operations that read rows of a query. */
export const readsOf = <Row, Joined, Fields, Key>(
  handle: Handle,
  entity: JoinedEntity<Row, Joined>,
): Reads<Row, Fields, Key> => {
  const { table, alias, query, fromRow } = entity
  const termsOf = termsIn(entity, entity)
  const [key = ''] = entity.key
  const selected = (condition: RawBuilder<boolean>, lock: Lock | undefined) => {
    const rows = query().where(condition)
    if (lock === undefined || !holds(handle)) return rows
    const tables = [alias as never]
    return lock === 'share' ? rows.forShare(tables) : rows.forNoKeyUpdate(tables)
  }
  const select = async (where: object, lock?: Lock): Promise<readonly Row[]> => {
    const { rows } = await run<Joined>(
      handle,
      handle.read,
      `${table} find ${lock}`,
      limited(termsOf(where), table),
      [],
      (condition) => selected(condition, lock),
    )
    return rows.map(fromRow)
  }
  return {
    select: (where, { lock } = {}) => select(where, lock),
    async find(of, { lock } = {}) {
      if (typeof of === 'object') return (await select(of as object, lock))[0]
      // Requests find many rows by their keys, so build no condition.
      const find = prepared(handle, handle.read, `${table} find by key ${lock}`, (value) =>
        selected(sql`${sql.ref(`${alias}.${key}`)} = ${value}`, lock),
      )
      const { rows } = await find(of)
      return rows[0] && fromRow(rows[0])
    },
  }
}

/** Selects rows of a table. Each statement is compiled once, except for statements with lists. */
export const selectOf =
  <Row, Fields = Row>(handle: Handle, codec: Selected<Row>): Rows<Row, Fields>['select'] =>
  async (
    where = {} as never,
    { by = codec.key as never, after, limit, isReversed = false } = {},
  ) => {
    const { table, columnOf, cellOf, fromRow } = codec
    const ordered = by.map(columnOf)
    const place = after && by.map((name) => cellOf(name, given(after, name)))
    const direction = sql.raw(isReversed ? 'desc' : 'asc')
    const { rows } = await run<object>(
      handle,
      handle.read,
      `${table} select ${ordered} ${isReversed} ${place !== undefined} ${limit !== undefined}`,
      termsIn(codec)(where),
      [...(place ?? []), ...(limit === undefined ? [] : [limit])],
      (condition, values) => {
        const from =
          place &&
          sql`and (${listOf(ordered)}) ${sql.raw(isReversed ? '<' : '>')} (${sql.join(values.slice(0, place.length))})`
        return sql`select * from ${sql.table(table)} where ${condition} ${from ?? sql``} order by ${sql.join(ordered.map((column) => sql`${sql.ref(column)} ${direction}`))} ${limit === undefined ? sql`` : sql`limit ${values.at(-1)}`}`
      },
    )
    return rows.map((row) => fromRow(row as never))
  }

/** The operations on the rows of a table. Each statement is compiled once, except for statements with lists. */
export const rowsOf = <Row, Fields = Row>(
  handle: Handle,
  codec: EntityOf<Row>,
): Rows<Row, Fields> => {
  const { write } = handle
  const { table, key, columns } = codec
  const name = sql.table(table)
  const termsOf = termsIn(codec)
  const changing = (where: object): readonly Term[] => limited(termsOf(where), table)

  const inserted = async (row: Row, suffix: string, onConflict: RawBuilder<unknown>) => {
    const { numAffectedRows } = await run(
      handle,
      write,
      `${table} insert${suffix}`,
      [],
      codec.toCells(row),
      (_, values) =>
        sql`insert into ${name} (${listOf(columns)}) values (${sql.join(values)}) on conflict ${onConflict}`,
    )
    return Number(numAffectedRows ?? 0)
  }
  const replaced = columns
    .filter((column) => !key.includes(column))
    .map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`)

  return {
    insert: async (row) => (await inserted(row, '', sql`do nothing`)) > 0,

    async put(row) {
      await inserted(row, ' or replace', sql`(${listOf(key)}) do update set ${sql.join(replaced)}`)
    },

    async update(where, changes) {
      const changed = Object.entries(changes)
      const names = changed.map(([name]) => codec.columnOf(name))
      const { numAffectedRows } = await run(
        handle,
        write,
        `${table} update ${names}`,
        changing(where),
        changed.map(([name, value]) => codec.cellOf(name, value)),
        (condition, values) =>
          sql`update ${name} set ${sql.join(names.map((column, at) => sql`${sql.ref(column)} = ${values[at]}`))} where ${condition}`,
      )
      return Number(numAffectedRows ?? 0)
    },

    async delete(where) {
      const { numAffectedRows } = await run(
        handle,
        write,
        `${table} delete`,
        changing(where),
        [],
        (condition) => sql`delete from ${name} where ${condition}`,
      )
      return Number(numAffectedRows ?? 0)
    },

    select: selectOf(handle, codec),
  }
}
