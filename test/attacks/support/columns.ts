import type { Cell, DatabaseWriter, Row } from './database-writer.ts'

/** A column of the schema. */
export interface Column {
  readonly name: string
  readonly isText: boolean
}

/** Reads the columns of every table of the server from the schema. */
export const schemaOf = async (
  db: DatabaseWriter,
): Promise<ReadonlyMap<string, readonly Column[]>> => {
  const rows = await db.run(db.columnsQuery)
  const tables = new Map<string, Column[]>()
  for (const { table_name: table, name, type } of rows) {
    const isText = /text|char/i.test(String(type))
    tables.set(String(table), [
      ...(tables.get(String(table)) ?? []),
      { name: String(name), isText },
    ])
  }
  return tables
}

/** Two rows of a table, which an attacker changes, and the credentials that must then be rejected. */
export interface Kind {
  readonly table: string
  /** The two rows, which differ in the user, the client and all random values. */
  readonly rows: readonly [Row, Row]
  /** Returns whether the server accepts a credential of the rows, or the credential whose digest the attacker wrote. */
  accepts(changed: readonly Row[]): Promise<boolean>
  /** Values that the attacker writes into columns: the digests of a credential that the attacker invented. */
  readonly chosen?: Readonly<Record<string, Cell>>
  /** The columns whose changes the server accepts, with the reasons. */
  readonly free: Readonly<Record<string, string>>
}

/** A change of rows, with a description. */
export interface Attack {
  readonly what: string
  readonly rows: readonly Row[]
  /** The names of the changed columns. */
  readonly columns: readonly string[]
}

const isFlag = (value: Cell): boolean => value === 0 || value === 1

const others = ({ name, isText }: Column, value: Cell, kind: Kind): readonly Cell[] => {
  const chosen = kind.chosen?.[name]
  const changed = isText ? (chosen ?? otherText(String(value ?? ''))) : Number(value ?? 0) + 1
  const flipped = isFlag(value) ? 1 - Number(value) : changed
  if (value !== null) return [flipped, null]
  // SQLite accepts infinity in an integer column, and JSON serializes it as null.
  return isText ? [flipped] : [flipped, Number.POSITIVE_INFINITY]
}

// Change a character in the middle, because the last base64url character may contain unused bits.
const otherText = (text: string): string => {
  const at = Math.floor(text.length / 2)
  return `${text.slice(0, at)}${text[at] === 'x' ? 'y' : 'x'}${text.slice(at + 1)}`
}

/** Returns the attacks on each column: another value, null, the value of the other row, or both values swapped. */
export const attacksOn = (kind: Kind, columns: readonly Column[]): readonly Attack[] => {
  const [one, other] = kind.rows
  return columns.flatMap((column): readonly Attack[] => {
    const { name } = column
    const [mine, theirs] = [one[name] ?? null, other[name] ?? null]
    const changes = others(column, mine, kind).map((value) => ({
      what: `${name} is ${value === null ? 'removed' : 'changed'}`,
      rows: [{ ...one, [name]: value }],
      columns: [name],
    }))
    if (mine === theirs) return changes
    return [
      ...changes,
      { what: `${name} is copied`, rows: [{ ...one, [name]: theirs }], columns: [name] },
      {
        what: `${name} is swapped`,
        rows: [
          { ...one, [name]: theirs },
          { ...other, [name]: mine },
        ],
        columns: [name],
      },
    ]
  })
}

/** Returns the attack that copies these columns from the other row. */
export const partlyCopied = (kind: Kind, names: readonly string[]): Attack => {
  const [one, other] = kind.rows
  const copied = Object.fromEntries(names.map((name) => [name, other[name] ?? null]))
  return { what: `${names.join(', ')} are copied`, rows: [{ ...one, ...copied }], columns: names }
}
