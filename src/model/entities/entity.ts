import type { Claims } from '../../crypto/sealed.ts'
import type { Accepted } from '../members.ts'
import type { AnyField, Cell, Seal, StoredOf, ValueOf } from './field.ts'
import { comparerOf, creatorOf, Leaf, type Literal } from './literal.ts'

/** The fields of a record. */
export type Fields = Readonly<Record<string, AnyField>>
/** The fields of a record. A property may be a record itself. */
export type Shape = Readonly<Record<string, AnyField | Fields>>

/** A record with all properties. */
export type RecordOf<S extends Shape> = {
  readonly [Name in keyof S]: S[Name] extends AnyField
    ? ValueOf<S[Name]>
    : S[Name] extends Fields
      ? RecordOf<S[Name]>
      : never
}

/** A record without the properties that the database assigns or another table stores. */
export type SourceOf<S extends Shape> = {
  readonly [Name in keyof S as S[Name] extends { readonly place: string }
    ? never
    : Name]: S[Name] extends AnyField
    ? ValueOf<S[Name]>
    : S[Name] extends Fields
      ? SourceOf<S[Name]>
      : never
}

/** The properties with an initial value. */
export type BlankOf<F extends Fields> = {
  readonly [Name in keyof F as F[Name] extends { readonly initial: unknown }
    ? Name
    : never]: ValueOf<F[Name]>
}

/** The properties that a caller may set. */
export type InputOf<F extends Fields> = {
  readonly [Name in keyof F as F[Name] extends { readonly input: unknown }
    ? Name
    : never]?: ValueOf<F[Name]>
}

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : ''
type ColumnOf<F, Name> = F extends { readonly column: infer Column extends string }
  ? Column
  : Snake<Name & string>
type Cells<S, Without> = {
  [Name in keyof S as S[Name] extends Without
    ? never
    : S[Name] extends AnyField
      ? ColumnOf<S[Name], Name>
      : never]: StoredOf<S[Name]>
}
/** The cells of all records in a shape. As parameters of functions, a union becomes an intersection. */
type Inner<S, Without> = {
  [Name in keyof S]: (one: S[Name] extends AnyField ? unknown : Cells<S[Name], Without>) => void
}[keyof S] extends (all: infer Together) => void
  ? Together
  : never
type Row<S, Without> = Cells<S, Without> & Inner<S, Without>

/** The row of a record, with the columns that its table stores. */
export type RowOf<S extends Shape> = Row<S, { readonly place: 'joined' }>

declare const types: unique symbol
/** The types of the columns, which exist only for the compiler. */
export interface Typed<All, Inserted> {
  readonly [types]?: readonly [All, Inserted]
}
/** The columns of the table of an entity. */
export type ColumnsOf<E> = E extends Typed<infer All, unknown> ? All : never
/** The columns that an insert must write. */
export type InsertedOf<E> = E extends Typed<unknown, infer Inserted> ? Inserted : never

const isField = (part: AnyField | Fields): part is AnyField => typeof part.type === 'string'
const columnOf = (name: string, { column }: AnyField): string =>
  column ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

type None = Readonly<Record<never, never>>
type Inserted<S extends Shape, C extends Fields> = Row<S, { readonly place: string }> &
  Cells<C, never>

/** The table of a record, and the conversions between the record and its row. */
export interface Entity<
  Table extends string,
  S extends Shape,
  C extends Fields = None,
  A extends Fields = None,
> extends Typed<
    RowOf<S> & Cells<C, never> & Cells<A, never>,
    Inserted<S, C> & Cells<A, { readonly place: string }>
  > {
  readonly table: Table
  readonly key: readonly string[]
  /** Every column of the table. */
  readonly stored: readonly {
    readonly column: string
    readonly type: AnyField['type']
    readonly isNullable: boolean
  }[]
  /** The sealed columns. */
  readonly seals: readonly (Seal & { readonly column: string })[]
  /** The columns that an insert writes, in the order of `toCells`. */
  readonly columns: readonly (keyof Inserted<S, C> & string)[]
  /** The types of these columns. */
  readonly types: { readonly [Column in keyof Inserted<S, C>]: AnyField['type'] }
  /** The columns that a replacement of the row writes, in the order of `toReplacedCells`. */
  readonly replacedColumns: readonly (keyof Inserted<S, C> & string)[]
  readonly toRow: (record: SourceOf<S>) => Inserted<S, C>
  readonly toCells: (record: SourceOf<S>) => Inserted<S, C>[keyof Inserted<S, C>][]
  readonly toReplacedCells: (record: SourceOf<S>) => Inserted<S, C>[keyof Inserted<S, C>][]
  readonly fromRow: (row: Row<S, never>) => RecordOf<S>
  /** Returns the column of a property. */
  readonly columnOf: (name: string) => string
  /** Returns a value of a property as a cell. */
  readonly cellOf: (name: string, value: unknown) => Cell
}

/**
 * Derives the table of a record, and the conversions between the record and its row.
 * @param key the columns of the primary key
 * @param computed columns that are computed from the whole record and never read
 * @param apart columns that other statements write and read
 */
export const entity = <
  const Table extends string,
  const S extends Shape,
  const C extends Fields = None,
  const A extends Fields = None,
>(
  table: Table,
  shape: S,
  {
    key = ['id'],
    computed,
    apart,
  }: { readonly key?: readonly string[]; readonly computed?: C; readonly apart?: A } = {},
): Entity<Table, S, C, A> => {
  const stored = Object.entries(shape).flatMap(([name, part]) =>
    isField(part)
      ? [{ path: [name], column: columnOf(name, part), field: part }]
      : Object.entries(part).map(([inner, field]) => ({
          path: [name, inner],
          column: columnOf(inner, field),
          field,
        })),
  )
  const others = (fields: Fields = {}) =>
    Object.entries(fields).map(([name, field]) => ({
      path: [],
      column: columnOf(name, field),
      field,
    }))
  const inserted = [...stored.filter(({ field }) => field.place === undefined), ...others(computed)]
  const all = [...stored, ...others(computed), ...others(apart)]
  const replaced = inserted.filter(({ field }) => field.isReplaced)
  const nameOf = ({ path }: (typeof inserted)[number]) => path.at(-1) ?? ''
  const columns = new Map(stored.map((part) => [nameOf(part), part.column]))
  const encoders = new Map(stored.map((part) => [nameOf(part), part.field.encode]))
  const leaf = ({ path, field }: (typeof inserted)[number]) => new Leaf(path, field.encode)
  const names = (fields: typeof inserted) => fields.map(({ column }) => column)
  const cells = (fields: typeof inserted) => creatorOf(fields.map(leaf))
  const reader = (fields: Shape): Literal =>
    Object.fromEntries(
      Object.entries(fields).map(([name, part]) => [
        name,
        isField(part) ? new Leaf([columnOf(name, part)], part.decode) : reader(part),
      ]),
    )
  return {
    table,
    key,
    stored: all
      .filter(({ field }) => field.place !== 'joined')
      .map(({ column, field: { type, isNullable = false } }) => ({ column, type, isNullable })),
    seals: stored.flatMap(({ column, field: { seal } }) => (seal ? [{ column, ...seal }] : [])),
    columns: names(inserted),
    types: Object.fromEntries(inserted.map(({ column, field }) => [column, field.type])),
    replacedColumns: names(replaced),
    toRow: creatorOf(Object.fromEntries(inserted.map((part) => [part.column, leaf(part)]))),
    toCells: cells(inserted),
    toReplacedCells: cells(replaced),
    fromRow: creatorOf(reader(shape)),
    columnOf: (name: string) => columns.get(name) ?? name,
    cellOf: (name: string, value: never) => (encoders.get(name) ?? same)(value),
  } as unknown as Entity<Table, S, C, A>
}

/** Derives the initial values of a record. */
export const blankOf = <F extends Fields>(fields: F): BlankOf<F> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) =>
      'initial' in field ? [[name, field.initial]] : [],
    ),
  ) as BlankOf<F>

/** Derives what each property that a caller may set accepts, and the validation of a record's values. */
export const inputOf = <F extends Fields>(fields: F) => {
  type Input = Required<InputOf<F>>
  const inputs = Object.entries(fields).filter(([, { input }]) => input)
  return {
    members: Object.fromEntries(inputs.map(([name, { accepts }]) => [name, accepts])) as Readonly<
      Record<keyof Input, Accepted>
    >,
    /** Returns a function for each property, which validates the value of the record. */
    checks: (record: Input) =>
      Object.fromEntries(
        inputs.map(([name, { input = same }]) => [
          name,
          () => input(Reflect.get(record, name) as never),
        ]),
      ) as { readonly [Name in keyof Input]: () => Input[Name] },
  }
}

type LaterOf<F extends Fields> = {
  [Name in keyof F]: F[Name] extends { readonly since: number } ? Name : never
}[keyof F]

/** Returns some of the fields, in the order of the names. */
export const picked = <F extends Fields, Name extends keyof F & string>(
  fields: F,
  names: readonly Name[],
) => Object.fromEntries(names.map((name) => [name, fields[name]])) as Pick<F, Name>

/** Returns the claims of a record. */
export interface ClaimsOf<R> {
  (record: R): Claims
  /** Returns whether two records have the same claims. */
  isSame(one: R, other: R): boolean
}

/**
 * Derives the claims of a record. The first claim is the kind, so that a seal is not valid for another kind.
 * @param order the properties in the order of their claims, without those with `since`, whose claims follow
 */
export const claimsOf = <
  F extends Fields,
  Name extends keyof SourceOf<F> & string = keyof SourceOf<F> & string,
>(
  kind: string,
  fields: F,
  order?: readonly Name[],
): ClaimsOf<Pick<RecordOf<F>, Name | LaterOf<F>>> => {
  const stored = Object.entries(fields).filter(([, { place }]) => place === undefined)
  const sinceOf = (name: string): number => fields[name]?.since ?? 0
  const claimOf = (name: string, value: unknown) => (fields[name]?.claim ?? same)(value as never)
  const first = order ?? stored.map(([name]) => name).filter((name) => sinceOf(name) === 0)
  const later = stored
    .map(([name]) => name)
    .filter((name) => sinceOf(name) > 0)
    .sort((one, other) => sinceOf(one) - sinceOf(other))
  const leafOf = (name: string) => new Leaf([name], fields[name]?.claim)
  const upTo = (migration: number) => {
    const names = [...first, ...later.filter((name) => sinceOf(name) <= migration)]
    return creatorOf([new Leaf([], () => kind), ...names.map(leafOf)]) as (record: object) => Claims
  }
  const oldest = upTo(0)
  const newestFirst = [...new Set(later.map(sinceOf))].reverse().map((migration) => ({
    isUsed: (record: object) =>
      later.some(
        (name) =>
          sinceOf(name) === migration &&
          claimOf(name, Reflect.get(record, name)) !== claimOf(name, fields[name]?.initial),
      ),
    create: upTo(migration),
  }))
  const create = (record: object) =>
    (newestFirst.find(({ isUsed }) => isUsed(record))?.create ?? oldest)(record)
  return Object.assign(create, { isSame: comparerOf([...first, ...later].map(leafOf)) })
}

const same = (value: never): Claims[number] => value

/**
 * Freezes an object and its arrays. Look-ups may return one record to several requests, so a change by one request
 * would affect the other requests.
 */
export const frozen = <T extends object>(record: T): T => {
  for (const value of Object.values(record)) if (Array.isArray(value)) Object.freeze(value)
  return Object.freeze(record)
}
