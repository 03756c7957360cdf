import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Cell } from '../../model/entities/field.ts'
import type { Rows } from '../contract/rows.ts'
import { listOf } from './count.ts'
import { type Handle, prepared } from './handle.ts'
import type { Tables } from './tables.ts'

/** An entity with records of this type. */
interface EntityOf<Row> {
  readonly table: string
  readonly key: readonly string[]
  readonly columns: readonly string[]
  toCells(row: Row): readonly Cell[]
  fromRow(row: never): Row
  columnOf(name: string): string
  cellOf(name: string, value: unknown): Cell
}

/** A condition or a change of a column. */
interface Term {
  readonly column: string
  readonly operator: '=' | '<>' | '<=' | 'in' | 'is null'
  readonly cells: readonly Cell[]
}

const given = (place: object, name: string): unknown => {
  const value: unknown = Reflect.get(place, name)
  if (value === undefined)
    throw new TypeError(`The place after which rows are listed has no ${name}.`)
  return value
}

/** The operations on the rows of a table. Each statement is compiled once, except for statements with lists. */
export const rowsOf = <Row, Fields = Row>(
  handle: Handle,
  codec: EntityOf<Row>,
): Rows<Row, Fields> => {
  const { read, write } = handle
  const { table, key, columns } = codec
  const name = sql.table(table)

  const termOf = ([name, condition]: [string, unknown]): Term => {
    const column = codec.columnOf(name)
    const of = (operator: Term['operator'], ...values: readonly unknown[]): Term => ({
      column,
      operator,
      cells: values.map((value) => codec.cellOf(name, value)),
    })
    if (condition === undefined) throw new TypeError(`The condition for ${name} is undefined.`)
    if (condition === null) return of('is null')
    if (Array.isArray(condition)) return of('in', ...condition)
    if (typeof condition !== 'object') return of('=', condition)
    const limit = condition as { readonly not?: unknown; readonly upTo?: unknown }
    return 'upTo' in limit ? of('<=', limit.upTo) : of('<>', limit.not)
  }
  const termsOf = (where: object): readonly Term[] => Object.entries(where).map(termOf)
  // A condition that was left out by mistake must not change all rows.
  const changing = (where: object): readonly Term[] => {
    const terms = termsOf(where)
    if (terms.length === 0) throw new TypeError(`No condition selects rows of ${table}.`)
    return terms
  }

  const run = async (
    db: Kysely<Tables>,
    operation: string,
    terms: readonly Term[],
    others: readonly unknown[],
    build: (where: RawBuilder<unknown>, others: readonly RawBuilder<never>[]) => RawBuilder<object>,
  ) => {
    const built = (...values: readonly RawBuilder<never>[]) => {
      const left = [...values]
      const parts = terms.map(({ column, operator, cells }) => {
        const own = left.splice(0, cells.length)
        const operand = operator === 'in' ? sql`(${sql.join(own)})` : sql.join(own)
        return sql`${sql.ref(column)} ${sql.raw(operator)} ${operand}`
      })
      return build(parts.length === 0 ? sql`1 = 1` : sql.join(parts, sql` and `), left)
    }
    if (terms.some(({ cells, operator }) => operator === 'in' && cells.length === 0))
      return { rows: [], numAffectedRows: 0n }
    const values = [...terms.flatMap(({ cells }) => cells), ...others]
    // A statement with a list has many texts, so it is not stored.
    if (terms.some(({ operator }) => operator === 'in'))
      return built(...values.map((value) => sql<never>`${value}`)).execute(db)
    const text = `${table} ${operation} ${terms.map(({ column, operator }) => column + operator)}`
    return prepared(handle, db, text, built, values.length)(...values)
  }

  const inserted = async (row: Row, suffix: string, onConflict: RawBuilder<unknown>) => {
    const { numAffectedRows } = await run(
      write,
      `insert${suffix}`,
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
        write,
        `update ${names}`,
        changing(where),
        changed.map(([name, value]) => codec.cellOf(name, value)),
        (condition, values) =>
          sql`update ${name} set ${sql.join(names.map((column, at) => sql`${sql.ref(column)} = ${values[at]}`))} where ${condition}`,
      )
      return Number(numAffectedRows ?? 0)
    },

    async delete(where) {
      const { numAffectedRows } = await run(
        write,
        'delete',
        changing(where),
        [],
        (condition) => sql`delete from ${name} where ${condition}`,
      )
      return Number(numAffectedRows ?? 0)
    },

    async select(where = {}, { by = key as never, after, limit, isReversed = false } = {}) {
      const ordered = by.map(codec.columnOf)
      const place = after && by.map((name) => codec.cellOf(name, given(after, name)))
      const direction = sql.raw(isReversed ? 'desc' : 'asc')
      const { rows } = await run(
        read,
        `select ${ordered} ${isReversed} ${place !== undefined} ${limit !== undefined}`,
        termsOf(where),
        [...(place ?? []), ...(limit === undefined ? [] : [limit])],
        (condition, values) => {
          const from =
            place &&
            sql`and (${listOf(ordered)}) ${sql.raw(isReversed ? '<' : '>')} (${sql.join(values.slice(0, place.length))})`
          return sql`select * from ${name} where ${condition} ${from ?? sql``} order by ${sql.join(ordered.map((column) => sql`${sql.ref(column)} ${direction}`))} ${limit === undefined ? sql`` : sql`limit ${values.at(-1)}`}`
        },
      )
      return rows.map((row) => codec.fromRow(row as never))
    },
  }
}
