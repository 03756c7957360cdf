import type { Kysely } from 'kysely'
import { StoreUnavailable } from '../../contract/errors.ts'
import { batched, batchedLookup } from '../batches.ts'
import { type HotPaths, rotatedColumns, swappedColumns, tokenColumns } from '../hot-paths.ts'
import type { Tables } from '../tables.ts'
import type { SqliteDatabase } from './database.ts'

const marks = (columns: readonly string[]): string => columns.map(() => '?').join(', ')

const insertToken = `insert into oauth2server_token (${tokenColumns.join(', ')})
  values (${marks(tokenColumns)}) on conflict do nothing returning id`

const swapPair = `update oauth2server_token set ${swappedColumns.map((column) => `${column} = ?`).join(', ')}
  where id = ? and refresh_token_digest = ? and client_key = ? and access_token_digest <> ?`
const endChildren = 'delete from oauth2server_token where parent_id = ?'
const noteRotated = `insert into oauth2server_rotated_refresh_token (${rotatedColumns.join(', ')})
  values (${marks(rotatedColumns)})`
const extend =
  'update oauth2server_authorization set expires_at = ? where id = ? and expires_at < ?'

export interface SqliteHotPathsOptions {
  readonly reader: SqliteDatabase
  readonly writer: SqliteDatabase
  /** The single connection of the writer: its holder has the writer to itself. */
  readonly write: Kysely<Tables>
  /** Whether concurrent writes share a commit, and concurrent look-ups of the same a query. */
  readonly batch: boolean
}

/** One commit costs as much as many rows: what is written within one turn of the event loop shares it. */
export const sqliteHotPaths = ({
  reader,
  writer,
  write,
  batch,
}: SqliteHotPathsOptions): HotPaths => {
  const most = batch ? 256 : 1
  const isUndone = (error: unknown) => !(error instanceof StoreUnavailable)
  const together = (works: readonly (() => unknown)[]) =>
    write.connection().execute(() => writer.together(works))
  const inTransaction = batched<() => unknown, unknown>({
    run: together,
    runAlone: async (work) => (await together([work]))[0],
    isUndone,
    most,
    atOnce: 1,
  })
  return {
    lookup({ one: { sql } }) {
      type Row = never
      const find = async (key: string) => (await reader.run(sql, [key])).rows[0] as Row | undefined
      if (!batch) return find
      return batchedLookup(
        async (keys) => {
          const found = new Map<string, Row>()
          for (const key of keys) {
            const row = await find(key)
            if (row !== undefined) found.set(key, row)
          }
          return found
        },
        { isUndone, most, atOnce: 1 },
      )
    },

    async insertToken(token) {
      const parameters = tokenColumns.map((column) => token[column])
      const id = await inTransaction(() => writer.now(insertToken, parameters).rows[0]?.id)
      return id as number | undefined
    },

    async rotate({ id, authorizationId, current, next, rotated, endsAt }) {
      const swap = [
        ...swappedColumns.map((column) => next[column]),
        ...[id, current, next.client_key, next.access_token_digest],
      ]
      const isDone = await inTransaction(() => {
        if (writer.now(swapPair, swap).changes === 0n) return false
        writer.now(endChildren, [id])
        writer.now(
          noteRotated,
          rotatedColumns.map((column) => rotated[column]),
        )
        writer.now(extend, [endsAt, authorizationId, endsAt])
        return true
      })
      return isDone === true
    },
  }
}
