import { sql } from 'kysely'
import { likelyName } from '../../model/likely-name.ts'
import type { UserKeyType, UserTable } from '../../model/user-table.ts'
import { StoreUnusable } from '../contract/errors.ts'
import type { Handle } from './handle.ts'
import { timeOf, userSource } from './user-source.ts'

type Checked = Pick<Handle, 'write' | 'users' | 'types' | 'locking' | 'userForeignKey'>

/** The columns of a table, with their declared types in lower case; empty if the table does not exist. */
type Columns = ReadonlyMap<string, string>

/**
 * Checks the user table of the application, and whether the existing tables of this package fit the configured users.
 * Then records in `userForeignKey` whether the tables of this package have, or will have, a foreign key to the user
 * table.
 * @throws StoreUnusable, which lists every problem and what to do
 */
export const checkUsers = async (handle: Checked): Promise<void> => {
  const { users } = handle
  const ofTable = typeof users === 'object' ? await tableProblems(handle, users) : []
  const problems = [...ofTable, ...(await schemaProblems(handle))]
  if (problems.length > 0) throw new StoreUnusable(problems.join('\n'))
  if (typeof users === 'object') handle.userForeignKey.exists = await hasForeignKey(handle, users)
}

const hasForeignKey = async (handle: Checked, users: UserTable): Promise<boolean> => {
  const isCreated = (await columnsOf(handle, ownTable)).size > 0
  if (isCreated) return (await referenceOf(handle)) !== null
  return users.foreignKeys ?? canBeReferenced(handle, users)
}

/**
 * Returns whether a new user of the application may inherit the rows of a deleted user with the same ID. This is
 * possible if no foreign key deletes these rows, the creation time of users is unknown, and the database may assign an
 * ID twice.
 */
export const mayInheritRows = async (handle: Checked): Promise<boolean> => {
  const { users, userForeignKey, locking: isPostgres, write: db } = handle
  const isBound = typeof users !== 'object' || userForeignKey.exists || users.columns.createdAt
  if (isBound || users.keyType === 'uuid') return false
  const { name, columns } = users
  // A sequence does not assign a number twice. In SQLite, only tables with `autoincrement` have a sequence.
  const statement = isPostgres
    ? sql`
        select 1 from pg_attribute a
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = ${regclass(name)} and a.attname = ${columns.id}
          and (a.attidentity <> '' or pg_get_expr(d.adbin, d.adrelid) like 'nextval(%')`
    : sql`
        select 1 from sqlite_master
        where lower(name) = lower(${unqualified(name)}) and lower(sql) like '%autoincrement%'`
  const { rows } = await statement.execute(db)
  return rows.length === 0
}

/** Returns whether a foreign key can refer to the user table. */
const canBeReferenced = async (
  { write: db, locking: isPostgres }: Checked,
  { name, columns: { id } }: UserTable,
): Promise<boolean> => {
  const [table = name, schema] = name.split('.').reverse()
  // With a foreign key, the insert of a token locks the user (`for key share`). This lock requires the privilege
  // UPDATE.
  const statement = isPostgres
    ? sql<{ name: string }>`
        select c.relname as name
        from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attname = ${id}
        join pg_index i on i.indrelid = c.oid and i.indkey[0] = a.attnum
        where c.oid = ${regclass(name)} and c.relkind in ('r', 'p') and c.relpersistence = 'p'
          and i.indisunique and i.indimmediate and i.indnkeyatts = 1 and i.indpred is null
          and a.atttypid in ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'text'::regtype, 'varchar'::regtype, 'uuid'::regtype)
          and has_table_privilege(c.oid, 'REFERENCES') and has_table_privilege(c.oid, 'UPDATE')`
    : sql<{ name: string }>`
        select m.name
        from sqlite_master m
        where lower(m.name) = lower(${table}) and m.type = 'table' and m.sql not like 'create virtual%'
          and (
            (select group_concat(lower(k.name)) from pragma_table_info(m.name) k where k.pk > 0) = lower(${id})
            or exists (
              select 1 from pragma_index_list(m.name) l
              where l."unique" = 1 and l.partial = 0
                and (select group_concat(lower(k.name)) from pragma_index_info(l.name) k) = lower(${id})
            )
          )`
  if (!isPostgres && schema !== undefined && schema.toLowerCase() !== 'main') return false
  const { rows } = await statement.execute(db)
  return rows.length > 0
}

const tableProblems = async (handle: Checked, users: UserTable): Promise<readonly string[]> => {
  const { name, columns, keyType } = users
  const option = `users: table('${name}')`
  const found = await columnsOf(handle, name)
  if (found.size === 0)
    return [`${option}: the database has no such table. Create it before the server starts.`]
  const problems: string[] = []
  const typeOf = (property: string, column: string): string | undefined => {
    const type = found.get(column) ?? (handle.locking ? undefined : insensitive(found, column))
    if (type !== undefined) return type
    const likely = likelyName(column, [...found.keys()])
    const hint = likely
      ? `Did you mean ${likely}?`
      : `The table has the columns ${[...found.keys()].join(', ')}.`
    problems.push(`${option}: the table has no column ${column} (${property}). ${hint}`)
    return undefined
  }
  const idType = typeOf('id', columns.id)
  if (idType !== undefined && !accepts(handle, keyType, idType)) {
    const fitting = keyTypes.filter((candidate) => accepts(handle, candidate, idType))
    const advice = fitting[0] ? `Set keyType to '${fitting[0]}'.` : 'This type is not supported.'
    problems.push(
      `${option}: the column ${columns.id} has the type ${idType}, but keyType is '${keyType}'. ${advice}`,
    )
  }
  typeOf('email', columns.email)
  for (const column of users.attributes) typeOf('attributes', column)
  for (const property of ['active', 'emailVerified', 'isAdmin'] as const) {
    const column = columns[property]
    const type = column === null ? undefined : typeOf(property, column)
    if (type !== undefined && !isFlag(handle, type))
      problems.push(
        `${option}: the column ${column} (${property}) has the type ${type}. It must be a boolean or an integer; a generated column or a view can convert it.`,
      )
  }
  if (columns.createdAt !== null) {
    const type = typeOf('createdAt', columns.createdAt)
    if (type !== undefined && handle.locking && !/^(?:timestamp|date)/.test(type))
      problems.push(
        `${option}: the column ${columns.createdAt} (createdAt) has the type ${type}. It must be a timestamp or a date; a generated column or a view can convert it.`,
      )
  }
  return problems.length > 0 ? problems : readProblems(handle, option, users)
}

// Reads the table, because the database user of the server may lack the permission to read it.
const readProblems = async (
  handle: Checked,
  option: string,
  users: UserTable,
): Promise<readonly string[]> => {
  const source = userSource({ ...handle, read: handle.write }, 'u')
  try {
    await handle.write.selectFrom(source).selectAll().limit(0).execute()
    const { createdAt } = users.columns
    if (createdAt === null) return []
    const time = timeOf(sql.ref(createdAt), handle.locking)
    const { rows } = await sql<{
      time: number | null
    }>`select ${time} as time from ${sql.table(users.name)} where ${sql.ref(createdAt)} is not null limit 1`.execute(
      handle.write,
    )
    return rows[0]?.time === null
      ? [`${option}: the column ${createdAt} (createdAt) contains a value that is not a time.`]
      : []
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [`${option}: the table cannot be read (${reason}).`]
  }
}

/** Compares the existing tables of this package with the configuration. */
const schemaProblems = async (handle: Checked): Promise<readonly string[]> => {
  const { users, types } = handle
  const userId = (await columnsOf(handle, ownTable)).get('user_id')
  if (userId === undefined) return []
  if (userId !== types.userKey)
    return [
      `The tables of this package store user IDs as ${userId}, but the configured users need ${types.userKey} (keyType). ${remedy}`,
    ]
  if (users === 'built-in') {
    const own = await columnsOf(handle, 'oauth2server_user')
    return own.size > 0
      ? []
      : [
          `The tables of this package were created for an application with its own users, but the built-in users are configured. ${remedy}`,
        ]
  }
  const target = await referenceOf(handle)
  const { name, foreignKeys } = users === 'elsewhere' ? { name: null, foreignKeys: false } : users
  // Accept a foreign key to the configured table, even if `foreignKeys` is false.
  const isAccepted = name !== null && target === unqualified(name)
  if (isAccepted || (target === null && foreignKeys !== true)) return []
  const refersTo = target === null ? 'no foreign key to users' : `a foreign key to ${target}`
  const required = foreignKeys === false ? 'none' : `one to ${name} (foreignKeys)`
  return [
    `The tables of this package have ${refersTo}, but the configuration requires ${required}. ${remedy}`,
  ]
}

const remedy =
  'Start the program or the command with the configuration that created the tables (--config). To delete all clients and tokens instead, drop every table whose name begins with oauth2server_, and start again.'

const ownTable = 'oauth2server_client'
const keyTypes: readonly UserKeyType[] = ['integer', 'text', 'uuid']

const accepts = (
  { locking: isPostgres }: Pick<Checked, 'locking'>,
  keyType: UserKeyType,
  type: string,
): boolean => (isPostgres ? postgresKeys[keyType].test(type) : sqliteKeys[keyType](type))

const postgresKeys: Readonly<Record<UserKeyType, RegExp>> = {
  integer: /^(?:smallint|integer|bigint)$/,
  text: /^(?:text|citext|character varying|character|name)$/,
  uuid: /^uuid$/,
}

// SQLite derives the affinity of a column from the declared type (https://www.sqlite.org/datatype3.html, §3.1). A column
// of a view may have no type.
const sqliteKeys: Readonly<Record<UserKeyType, (type: string) => boolean>> = {
  integer: (type) => /int|^$/.test(type),
  text: (type) => !type.includes('int') && /char|clob|text|^$/.test(type),
  uuid: (type) => !type.includes('int') && /char|clob|text|uuid|guid|^$/.test(type),
}

const isFlag = ({ locking: isPostgres }: Pick<Checked, 'locking'>, type: string): boolean =>
  isPostgres
    ? /^(?:boolean|smallint|integer|bigint|numeric)$/.test(type)
    : !/char|clob|text|blob|date|time/.test(type)

const insensitive = (columns: Columns, name: string): string | undefined =>
  [...columns].find(([column]) => column.toLowerCase() === name.toLowerCase())?.[1]

const columnsOf = async ({ write: db, locking }: Checked, table: string): Promise<Columns> => {
  const [name, schema] = table.split('.').reverse()
  const statement = locking
    ? sql<Column>`
        select a.attname as name, format_type(coalesce(nullif(t.typbasetype, 0), t.oid), null) as type
        from pg_attribute a join pg_type t on t.oid = a.atttypid
        where a.attrelid = ${regclass(table)} and a.attnum > 0 and not a.attisdropped
        order by a.attnum`
    : schema === undefined
      ? sql<Column>`select name, type from pragma_table_xinfo(${name})`
      : sql<Column>`select name, type from pragma_table_xinfo(${name}, ${schema})`
  const { rows } = await statement.execute(db)
  return new Map(rows.map(({ name, type }) => [name, type.toLowerCase()]))
}

interface Column {
  readonly name: string
  readonly type: string
}

/** Returns the name of the table to which `user_id` refers, in lower case; null without a foreign key. */
const referenceOf = async ({ write: db, locking }: Checked): Promise<string | null> => {
  const statement = locking
    ? sql<{ name: string }>`
        select f.relname as name
        from pg_constraint c
        join pg_class f on f.oid = c.confrelid
        join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
        where c.contype = 'f' and c.conrelid = ${regclass(ownTable)} and a.attname = 'user_id'`
    : sql<{ name: string }>`
        select "table" as name from pragma_foreign_key_list(${ownTable}) where "from" = 'user_id'`
  const { rows } = await statement.execute(db)
  return rows[0]?.name.toLowerCase() ?? null
}

// Returns the name without its schema, in lower case, because SQLite ignores the case of names.
const unqualified = (table: string): string => (table.split('.').at(-1) ?? table).toLowerCase()

// Resolves an unqualified name along the search path, as every statement does.
const regclass = (table: string) =>
  sql`to_regclass(${table
    .split('.')
    .map((part) => `"${part.replaceAll('"', '""')}"`)
    .join('.')})`
