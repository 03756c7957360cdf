import { StoreUnavailable, UniqueViolation } from '../../contract/errors.ts'
import { batched, batchedLookup, leftOut } from '../batches.ts'
import type { ColumnTypes, Users } from '../handle.ts'
import {
  type HotPaths,
  type RotationValues,
  rotatedColumns,
  swappedColumns,
  type TokenValues,
  tokenColumns,
} from '../hot-paths.ts'
import type { LockRetries } from '../lock-retries.ts'
import type { PostgresDialect } from './dialect.ts'
import { isRolledBack } from './errors.ts'

export interface PostgresHotPathsOptions {
  readonly dialect: Pick<PostgresDialect, 'run' | 'runOnce'>
  readonly users: Users
  readonly types: ColumnTypes
  /** Whether concurrent writes and look-ups of a kind share a statement. */
  readonly batch: boolean
  readonly lockRetries: LockRetries | undefined
}

/** Rows of one statement at most. */
const most = 100
/** Statements of a kind under way at once: while some wait for the disk, the next ones gather. */
const lookupsAtOnce = 2
const writesAtOnce = 2

const isUndone = (error: unknown): boolean =>
  !(error instanceof StoreUnavailable) || isRolledBack(error.cause)

/**
 * Each statement costs a round trip, and each that writes a flush: what comes within one turn of the event loop shares it.
 * A batch of writes leaves out members that need a row which somebody else holds; these wait for it alone, so that
 * nobody waits for the row of somebody else.
 */
export const postgresHotPaths = ({
  dialect,
  users,
  types,
  batch,
  lockRetries,
}: PostgresHotPathsOptions): HotPaths => {
  const inserting = insertStatements(types, users)
  const rotating = rotateStatements(types)
  const insertAll = async (sql: string, tokens: readonly TokenValues[]) => {
    const { rows } = await dialect.runOnce(sql, [JSON.stringify(tokens)])
    const inserted = rows as unknown as readonly Inserted[]
    return new Map(inserted.map((row) => [row.digest, row.id]))
  }
  const rotateAll = async (sql: string, rotations: readonly RotationValues[]) => {
    const { rows } = await dialect.runOnce(sql, [JSON.stringify(rotations.map(asGiven))])
    return new Set(rows.map((row) => row.access_token_digest))
  }
  const insertOne = async (token: TokenValues): Promise<number | undefined> => {
    try {
      return (await insertAll(inserting.waiting, [token])).get(token.access_token_digest)
    } catch (error) {
      if (error instanceof UniqueViolation) return undefined
      throw error
    }
  }
  const rotateOne = async (rotation: RotationValues): Promise<boolean> =>
    (await rotateAll(rotating.waiting, [rotation])).has(rotation.next.access_token_digest)

  const lookup: HotPaths['lookup'] = ({ one, many, keyOf }) => {
    type Row = Parameters<typeof keyOf>[0]
    if (!batch) return async (key) => (await dialect.run(one.sql, [key])).rows[0] as Row | undefined
    return batchedLookup(
      async (keys) => {
        // No row has one with NUL in it, and PostgreSQL refuses it together with all that are looked up beside it.
        const possible = keys.filter((key) => !key.includes('\0'))
        const { rows } = await dialect.run(many.sql, [possible])
        return new Map((rows as readonly Row[]).map((row) => [keyOf(row), row]))
      },
      // A look-up waits for no row: if it fails, every one of its members would.
      { isUndone: (error) => !(error instanceof StoreUnavailable), most, atOnce: lookupsAtOnce },
    )
  }
  if (!batch) {
    const alone = <T>(work: () => Promise<T>) => (lockRetries ? lockRetries.run(work) : work())
    return {
      lookup,
      insertToken: (token) => alone(() => insertOne(token)),
      rotate: (rotation) => alone(() => rotateOne(rotation)),
    }
  }
  const again = <T>(work: () => Promise<T>) => (lockRetries ? lockRetries.again(work) : work())
  const limits = { isUndone, most, atOnce: writesAtOnce }
  return {
    lookup,
    insertToken: batched<TokenValues, number | undefined>({
      async run(tokens) {
        const ids = await insertAll(inserting.skipping, tokens)
        return tokens.map(({ access_token_digest }) => ids.get(access_token_digest) ?? leftOut)
      },
      runAlone: (token) => again(() => insertOne(token)),
      ...limits,
    }),
    rotate: batched<RotationValues, boolean>({
      async run(rotations) {
        // Of several that present the same token, one statement can serve but one: the first.
        const first = new Map<number, RotationValues>()
        for (const one of rotations) if (!first.has(one.id)) first.set(one.id, one)
        const done = await rotateAll(rotating.skipping, [...first.values()])
        const isDone = ({ next }: RotationValues) => done.has(next.access_token_digest)
        return rotations.map((one) => {
          if (isDone(one)) return true
          const served = first.get(one.id)
          // Lost to another one of the batch. Otherwise a lock may be the reason, or there is nothing to rotate.
          return served && isDone(served) ? false : leftOut
        })
      },
      runAlone: (rotation) => again(() => rotateOne(rotation)),
      ...limits,
    }),
  }
}

interface Inserted {
  readonly id: number
  readonly digest: string
}

const notedColumn = (column: string): string => `noted_${column}`

/** What a rotation writes, in one object. */
const asGiven = ({ id, current, endsAt, next, rotated }: RotationValues): object => {
  const noted = rotatedColumns.map((column) => [notedColumn(column), rotated[column]])
  return { ...next, ...Object.fromEntries(noted), row_id: id, current, until: endsAt }
}

const numbers = new Set<string>([
  'client_key',
  'authorization_id',
  'expires',
  'refresh_expires',
  'ends_at',
  'created_at',
  'successor_id',
  'parent_id',
  'rotated_at',
  'row_id',
  'until',
])
const flags = new Set<string>(['is_personal', 'is_internal'])

// One text for any number of rows: the driver takes longer over lists, one for each column.
const given = (columns: readonly string[], { userKey }: ColumnTypes): string => {
  const typeOf = (column: string): string => {
    if (column === 'user_id') return userKey
    if (numbers.has(column)) return 'bigint'
    return flags.has(column) ? 'integer' : 'text'
  }
  const typed = columns.map((column) => `${column} ${typeOf(column.replace(/^noted_/, ''))}`)
  return `given as materialized (
      select * from json_to_recordset($1) as given (${typed.join(', ')})
    )`
}

/** The table and key that the foreign key of a user refers to; undefined where there is no foreign key. */
const referencedUser = (
  users: Users,
): { readonly table: string; readonly key: string } | undefined => {
  if (users === 'built-in') return { table: 'oauth2server_user', key: 'id' }
  if (users === 'elsewhere' || !users.foreignKeys) return undefined
  const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
  return {
    table: users.name.split('.').map(quoted).join('.'),
    key: quoted(users.columns.id),
  }
}

/** Statements that insert tokens: `skipping` leaves out a token whose client or user is locked, `waiting` waits. */
const insertStatements = (types: ColumnTypes, users: Users) => {
  const tokens = tokenColumns.join(', ')
  const user = referencedUser(users)
  // The same locks that the foreign keys take afterwards.
  const free = (
    name: string,
    table: string,
    key: string,
    column: string,
  ) => `${name} as materialized (
      select ${key} as key from ${table}
      where ${key} = any(array(select ${column} from given)) for key share skip locked
    )`
  const parents = [
    free('free_client', 'oauth2server_client', 'client_key', 'client_key'),
    ...(user ? [free('free_user', user.table, user.key, 'user_id')] : []),
  ]
  const areFree = [
    'client_key in (select key from free_client)',
    ...(user ? ['(user_id is null or user_id in (select key from free_user))'] : []),
  ]
  const insert = `insert into oauth2server_token (${tokens}) select ${tokens} from given`
  const returned = 'returning id, access_token_digest as digest'
  return {
    waiting: `with ${given(tokenColumns, types)} ${insert} ${returned}`,
    skipping: `with ${[given(tokenColumns, types), ...parents].join(', ')}
      ${insert} where ${areFree.join(' and ')} ${returned}`,
  }
}

/**
 * Statements that rotate tokens: `skipping` leaves out what somebody else holds, `waiting` waits for it. Each table has one
 * condition that an index can serve, so that there is one plan, whatever the statistics say.
 */
const rotateStatements = (types: ColumnTypes) => {
  const noted = rotatedColumns.map(notedColumn)
  // Locks the authorization first, as a revocation does. A token whose authorization was revoked meanwhile is left out.
  const rotate = (locked: '' | 'skip locked') => `with ${given(
    ['row_id', 'current', 'until', ...tokenColumns, ...noted],
    types,
  )}, held as materialized (
        select id from oauth2server_authorization
        where id = any(array(select authorization_id from given)) and revoked_at + 0 is null
        order by id for no key update ${locked}
      ), free as materialized (
        select id from oauth2server_token
        where id = any(array(select row_id from given where authorization_id in (select id from held)))
        order by id for update ${locked}
      ), extended as (
        update oauth2server_authorization as a set expires_at = given.until from given
        where a.id = any(array[given.authorization_id]) and given.authorization_id in (select id from held)
        and a.expires_at + 0 < given.until
      ), swapped as (
        update oauth2server_token as t set ${swappedColumns.map((column) => `${column} = given.${column}`).join(', ')}
        from given
        where t.id = any(array[given.row_id]) and given.row_id in (select id from free)
        and t.refresh_token_digest is not distinct from given.current
        and t.client_key is not distinct from given.client_key
        and t.access_token_digest <> given.access_token_digest
        returning t.id, t.access_token_digest
      ), ended as (
        delete from oauth2server_token where parent_id = any(array(select id from swapped))
      ), noted as (
        insert into oauth2server_rotated_refresh_token (${rotatedColumns.join(', ')})
        select ${noted.join(', ')} from given where row_id in (select id from swapped)
      ) select access_token_digest from swapped`
  return { waiting: rotate(''), skipping: rotate('skip locked') }
}
