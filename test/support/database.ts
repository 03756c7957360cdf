import { DatabaseSync, type SQLInputValue } from 'node:sqlite'

/**
 * Runs one statement on a database file, like an attacker who can write to the file but does not have the secret key.
 * @returns the number of changed rows
 */
export const execute = (file: string, sql: string, ...parameters: SQLInputValue[]): number => {
  using database = new DatabaseSync(file, { enableForeignKeyConstraints: false, timeout: 5000 })
  return Number(database.prepare(sql).run(...parameters).changes)
}

/** Returns the rows of a query on a database file. */
export const query = <Row = Record<string, unknown>>(
  file: string,
  sql: string,
  ...parameters: SQLInputValue[]
): Row[] => {
  using database = new DatabaseSync(file, { readOnly: true, timeout: 5000 })
  return database.prepare(sql).all(...parameters) as Row[]
}

/** Returns the primary key of a client, to which other tables refer. */
export const clientKeyOf = (file: string, clientId: string): number =>
  query<{ client_key: number }>(
    file,
    'select client_key from oauth2server_client where client_id = ?',
    clientId,
  )[0]?.client_key ?? Number.NaN

/** Returns the number of rows in a table. */
export const count = (file: string, table: string): number =>
  query<{ n: number }>(file, `select count(*) as n from ${table}`)[0]?.n ?? Number.NaN
