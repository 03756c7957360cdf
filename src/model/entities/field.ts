import type { Claims, Sealed, SealPurpose } from '../../crypto/sealed.ts'
import * as members from '../members.ts'

/** A value of a column. */
export type Cell = number | string | null

/** A boolean as 0 or 1, because SQLite has no boolean type. */
export type Flag = 0 | 1

/** The type of a column in PostgreSQL. `userKey` stands for the key type of the user table. */
export type SqlType = 'bigint' | 'integer' | 'text' | 'userKey'

/** The conversions of a field. Without a conversion, the property, the column and the claim have the same value. */
interface Conversions {
  readonly type: SqlType
  readonly isNullable?: boolean
  /** The values that a caller may pass. */
  readonly accepts: members.Accepted
  readonly encode?: (value: never) => Cell
  readonly decode?: (cell: never) => unknown
  readonly claim?: (value: never) => Claims[number]
}

/** How a value is sealed. `claims` returns undefined for a record without the value. */
export interface Seal {
  readonly purpose: SealPurpose
  readonly claims: (record: never) => Claims | undefined
}

/** How a field is stored and sealed. */
interface Options<Value = unknown> {
  /** The name of the column; by default, the name of the property in snake_case. */
  readonly column?: string
  /** `assigned`: the database assigns the value. `joined`: the value is a column of another table. */
  readonly place?: 'assigned' | 'joined'
  /** The value in a new record. */
  readonly initial?: Value
  /**
   * The number of the migration that added the column. The claims omit the fields of this and later migrations if all
   * of them have their initial value, so that older seals remain valid.
   */
  readonly since?: number
  /** Whether a replacement of the row writes the column. */
  readonly isReplaced?: boolean
  /** The seal of the value. */
  readonly seal?: Seal
  /** Validates the value that a caller sets. Without this function, callers cannot set the value. @throws InvalidField */
  readonly input?: (value: never) => Value
}

/** A field with values of any type. */
export interface AnyField extends Conversions, Options {}

declare const types: unique symbol

/** A property of a record, and the column that stores it. */
export interface Field<Value, Stored extends Cell = Cell> extends AnyField {
  readonly [types]?: readonly [Value, Stored]
}

/** The type of the property. */
export type ValueOf<F> = F extends { readonly [types]?: readonly [infer Value, Cell] }
  ? Value
  : never
/** The type of the column. */
export type StoredOf<F> = F extends { readonly [types]?: readonly [unknown, infer Stored] }
  ? Stored
  : never

export const text = <Value extends string = string>(): Field<Value, string> => ({
  type: 'text',
  accepts: members.text,
})

/** A sealed value. */
export const sealed = <Value extends string = Sealed>(
  claims: Seal['claims'],
  purpose: SealPurpose = 'row',
): Field<Value, string> => ({ ...text(), seal: { purpose, claims } })

/** A number, the key of a row, or a time in milliseconds since the epoch. */
export const number = (): Field<number, number> => ({
  type: 'bigint',
  accepts: members.number,
})

export const userKey = (): Field<number | string, number | string> => ({
  type: 'userKey',
  accepts: members.userId,
})

/** A small number. */
export const count = (): Field<number, number> => ({ ...number(), type: 'integer' })

export const toFlag = (value: boolean): Flag => (value ? 1 : 0)

export const flag = (): Field<boolean, Flag> => ({
  type: 'integer',
  accepts: members.flag,
  encode: toFlag,
  decode: (cell: Flag) => cell === 1,
})

/** Returns the texts of a column that contains a list. */
export const split = (cell: string, separator = ' '): readonly string[] =>
  cell === '' ? [] : cell.split(separator)

/** A list of texts that do not contain the separator. */
export const list = (separator = ' '): Field<readonly string[], string> => {
  const encode = (value: readonly string[]): string => value.join(separator)
  const decode = (cell: string): readonly string[] => split(cell, separator)
  return { type: 'text', accepts: members.listOf(members.text), encode, decode, claim: encode }
}

/** A value as JSON. */
export const json = <Value extends object>(): Field<Value, string> => ({
  type: 'text',
  accepts: members.object,
  encode: (value: Value) => JSON.stringify(value),
  decode: (cell: string) => JSON.parse(cell),
})

export const nullable = <Value, Stored extends Cell>(
  field: Field<Value, Stored>,
): Field<Value | null, Stored | null> => ({
  ...field,
  isNullable: true,
  accepts: members.orNull(field.accepts),
  ...(field.encode && { encode: unlessNull(field.encode) }),
  ...(field.decode && { decode: unlessNull(field.decode) }),
  ...(field.claim && { claim: unlessNull(field.claim) }),
})

/** A value that is null in a new record. */
export const optional = <Value, Stored extends Cell>(
  field: Field<Value, Stored>,
): Field<Value | null, Stored | null> & { readonly initial: null } => ({
  ...nullable(field),
  initial: null,
})

const unlessNull =
  <Value, Result>(convert: (value: Value) => Result) =>
  (value: Value | null): Result | null =>
    value === null ? null : convert(value)

/** Adds options to a field. */
export const having = <F extends AnyField, const O extends Options<ValueOf<F>>>(
  field: F,
  options: O,
): F & O => ({ ...field, ...options })

/** A column whose value is computed from the whole record. */
export const computed = <Value, Stored extends Cell, Source>(
  field: Field<Value, Stored>,
  encode: (record: Source) => Stored,
): Field<Value, Stored> => ({ ...field, encode })

/** For a value that a caller sets, and that needs no validation or is validated with other values. */
export const given = <Value>(value: Value): Value => value
