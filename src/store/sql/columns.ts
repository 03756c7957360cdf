/** The type of a column in PostgreSQL. `userKey` stands for the key type of the user table. */
export type SqlType = 'bigint' | 'integer' | 'text' | 'userKey'

/** The conversion between a property of a record and a column. */
export interface Column<Source, Property extends keyof Source, Stored> {
  /** The property that the column stores; null for a column whose value is computed from other properties. */
  readonly property: Property | null
  readonly type: SqlType
  /** Whether a replacement of the row writes the column. All other columns are only written by an insert. */
  readonly isReplaced: boolean
  readonly encode: (source: Source) => Stored
  readonly decode: (stored: Stored) => Source[Property]
}

/** One entry for each column whose value is derived from the record. */
export type ColumnsOf<Source, Row> = {
  readonly [Name in keyof Row]: Column<Source, keyof Source, Row[Name]>
}

/** The properties of a record that no column of a table stores. */
export type PropertiesWithoutColumn<
  Source,
  Columns extends Record<string, { readonly property: keyof Source | null }>,
> = Exclude<keyof Source, Columns[keyof Columns]['property']>

/** Converts the values of a property to the values of its column, and back. */
export interface Codec<Value, Stored> {
  readonly encode: (value: Value) => Stored
  readonly decode: (stored: Stored) => Value
}

/** Returns functions that create the columns for records of one type. */
export const columnsFor = <Source>() => ({
  /** Creates a column with the same value as the property. */
  plain: <Property extends keyof Source>(
    property: Property,
    type: SqlType,
  ): Column<Source, Property, Source[Property]> => ({
    property,
    type,
    isReplaced: false,
    encode: (source) => source[property],
    decode: (stored) => stored,
  }),
  /** Creates a column with the encoded value of the property. */
  encoded: <Property extends keyof Source, Stored>(
    property: Property,
    type: SqlType,
    { encode, decode }: Codec<Source[Property], Stored>,
  ): Column<Source, Property, Stored> => ({
    property,
    type,
    isReplaced: false,
    encode: (source) => encode(source[property]),
    decode,
  }),
  /** Creates a column that is computed from the record and never read. */
  computed: <Stored>(
    type: SqlType,
    encode: (source: Source) => Stored,
  ): Column<Source, never, Stored> => ({
    property: null,
    type,
    isReplaced: false,
    encode,
    decode: () => {
      throw new Error('A computed column is not read.')
    },
  }),
})

/** Marks a column that a replacement of the row writes. */
export const replaced = <C extends { readonly isReplaced: boolean }>(column: C): C => ({
  ...column,
  isReplaced: true,
})

/** Returns functions that copy a record to the columns of a row, and back. */
export const rowCodec = <Source, Row>(columns: ColumnsOf<Source, Row>) => {
  // Compute these lists once, because the returned functions run for every record.
  const all = Object.entries(columns) as [
    keyof Row & string,
    Column<Source, keyof Source, Row[keyof Row & string]>,
  ][]
  const writers = all.map(([name, { encode }]) => ({ name, encode }))
  const readers = all.flatMap(([name, { property, decode }]) =>
    property === null ? [] : [{ name, property, decode }],
  )
  return {
    write(source: Source, row: Partial<Row>): void {
      for (const { name, encode } of writers) row[name] = encode(source)
    },
    read(row: Row, source: Partial<Source>): void {
      for (const { name, property, decode } of readers) source[property] = decode(row[name])
    },
  }
}
