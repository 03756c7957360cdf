import { StoreUnavailable, TakenValue } from '../store.ts'
import { batched, batchedLookup } from './batches.ts'
import type { ColumnTypes } from './handle.ts'
import {
  type HotPaths,
  type RotationValues,
  rotatedColumns,
  swappedColumns,
  type TokenValues,
  tokenColumns,
} from './hot-paths.ts'
import { isRolledBack } from './postgres-errors.ts'

/** Runs one statement, in a transaction of its own. */
type Run = (
  sql: string,
  parameters: readonly unknown[],
) => Promise<{ readonly rows: readonly unknown[] }>

export interface PostgresHotPathsOptions {
  readonly run: Run
  readonly types: ColumnTypes
  /** Whether concurrent writes and look-ups of a kind share a statement. */
  readonly batch: boolean
}

/** Rows of one statement at most. */
const most = 100
/** Statements of a kind under way at once: while some wait for the disk, the next ones gather. */
const lookupsAtOnce = 2
const writesAtOnce = 2

const isUndone = (error: unknown): boolean =>
  !(error instanceof StoreUnavailable) || isRolledBack(error.cause)

/** Each statement costs a round trip, and each that writes a flush: what comes within one turn of the event loop shares it. */
export const postgresHotPaths = ({ run, types, batch }: PostgresHotPathsOptions): HotPaths => {
  const { insertTokens, rotate } = statements(types)
  const atMost = batch ? most : 1
  const writes = batch ? writesAtOnce : Number.POSITIVE_INFINITY
  const insert = batched<TokenValues, number | undefined>({
    async run(tokens) {
      try {
        const { rows } = await run(insertTokens, [JSON.stringify(tokens)])
        const ids = new Map((rows as readonly Inserted[]).map((row) => [row.digest, row.id]))
        return tokens.map(({ access_token_digest }) => ids.get(access_token_digest))
      } catch (error) {
        // Among several it is not said which: then each goes alone.
        if (tokens.length === 1 && error instanceof TakenValue) return [undefined]
        throw error
      }
    },
    isUndone,
    most: atMost,
    atOnce: writes,
  })
  const rotateAll = async (rotations: readonly RotationValues[]): Promise<ReadonlySet<string>> => {
    const given = JSON.stringify(rotations.map(asGiven))
    const { rows } = await run(rotate, [given])
    return new Set(
      (rows as readonly { access_token_digest: string }[]).map((row) => row.access_token_digest),
    )
  }
  const rotateOnce = batched<RotationValues, boolean>({
    async run(rotations) {
      // Of several that present the same token, one statement can serve but one: the first.
      const first = new Map<number, RotationValues>()
      for (const one of rotations) if (!first.has(one.id)) first.set(one.id, one)
      const done = await rotateAll([...first.values()])
      return rotations.map(({ next }) => done.has(next.access_token_digest))
    },
    isUndone,
    most: atMost,
    atOnce: writes,
  })
  return {
    lookup({ one, many, keyOf }) {
      type Row = Parameters<typeof keyOf>[0]
      if (!batch) return async (key) => (await run(one.sql, [key])).rows[0] as Row | undefined
      return batchedLookup(
        async (keys) => {
          // No row has one with NUL in it, and PostgreSQL refuses it together with all that are looked up beside it.
          const possible = keys.filter((key) => !key.includes('\0'))
          const { rows } = await run(many.sql, [possible])
          return new Map((rows as readonly Row[]).map((row) => [keyOf(row), row]))
        },
        { isUndone, most, atOnce: lookupsAtOnce },
      )
    },
    insertToken: insert,
    rotate: rotateOnce,
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

const statements = ({ userKey }: ColumnTypes) => {
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
  const typeOf = (column: string): string => {
    if (column === 'user_id') return userKey
    if (numbers.has(column)) return 'bigint'
    return flags.has(column) ? 'integer' : 'text'
  }
  // One text for any number of rows: the driver takes longer over lists, one for each column.
  const given = (columns: readonly string[]): string => {
    const typed = columns.map((column) => `${column} ${typeOf(column.replace(/^noted_/, ''))}`)
    return `json_to_recordset($1) as given (${typed.join(', ')})`
  }
  const noted = rotatedColumns.map(notedColumn)
  const tokens = tokenColumns.join(', ')
  return {
    insertTokens: `insert into oauth2server_token (${tokens})
      select ${tokens} from ${given(tokenColumns)} returning id, access_token_digest as digest`,
    // The authorization first, as whoever revokes does, and all of them in one order: two that meet wait for each
    // other in turn. Of one that was revoked meanwhile, nothing goes on.
    rotate: `with given as materialized (
        select * from ${given(['row_id', 'current', 'until', ...tokenColumns, ...noted])}
      ), held as materialized (
        select id from oauth2server_authorization
        where id = any(array(select authorization_id from given)) and revoked_at is null
        order by id for no key update
      ), extended as (
        update oauth2server_authorization as a set expires_at = given.until from held, given
        where a.id = held.id and given.authorization_id = held.id and a.expires_at < given.until
      ), swapped as (
        update oauth2server_token as t set ${swappedColumns.map((column) => `${column} = given.${column}`).join(', ')}
        from held, given
        where given.authorization_id = held.id and t.id = given.row_id
        and t.refresh_token_digest = given.current and t.client_key = given.client_key
        and t.access_token_digest <> given.access_token_digest
        returning t.id, t.access_token_digest
      ), ended as (
        delete from oauth2server_token where parent_id in (select id from swapped)
      ), noted as (
        insert into oauth2server_rotated_refresh_token (${rotatedColumns.join(', ')})
        select ${noted.join(', ')} from given where row_id in (select id from swapped)
      ) select access_token_digest from swapped`,
  }
}
