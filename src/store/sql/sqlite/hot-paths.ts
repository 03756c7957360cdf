import { tokenCodec } from '../../../model/entities/token.ts'
import type { ReservedIds } from '../../../model/redemption.ts'
import { ClientChanged, StoreUnavailable } from '../../contract/errors.ts'
import { batched, batchedLookup } from '../batches.ts'
import type { Handle, TableHandle } from '../handle.ts'
import type { HotPaths } from '../hot-paths.ts'
import { afterReplacement, replacePair } from '../tokens/rotation.ts'
import type { SqliteDatabase, StatementResult } from './database.ts'
import { insertsWithToken, insertToken } from './insert-with-token.ts'

export interface SqliteHotPathsOptions {
  readonly reader: SqliteDatabase
  readonly writer: SqliteDatabase
  readonly tables: TableHandle & Pick<Handle, 'write'>
  /** Whether concurrent writes share a commit, and concurrent look-ups of the same key share a query. */
  readonly batch: boolean
}

/**
 * The hot paths of SQLite. A commit costs as much as writing many rows, so the writes of consecutive turns of the
 * event loop share a commit.
 */
export const sqliteHotPaths = ({
  reader,
  writer,
  tables,
  batch,
}: SqliteHotPathsOptions): HotPaths => {
  const maxItems = batch ? 256 : 1
  const isUndone = (error: unknown) => !(error instanceof StoreUnavailable)
  const together = (works: readonly (() => unknown)[]) =>
    tables.write.connection().execute(() => writer.together(works))
  const inTransaction = batched<() => unknown, unknown>({
    run: together,
    runAlone: async (work) => (await together([work]))[0],
    isUndone,
    maxItems,
    maxConcurrent: 1,
  })
  const insertWithToken = insertsWithToken(tables, writer)
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
        { isUndone, maxItems, maxConcurrent: 1 },
      )
    },

    async write(sql, parameters) {
      return (await inTransaction(() => writer.now(sql, parameters))) as StatementResult
    },

    async insertToken(token, clientVersion) {
      if (clientVersion !== undefined) throw new ClientChanged()
      const parameters = tokenCodec.toCells(token)
      return (await inTransaction(() => writer.insert(insertToken, parameters))) as
        | number
        | undefined
    },

    async insertWithToken(rows) {
      const ids = await inTransaction(() => insertWithToken(rows))
      return ids as ReservedIds | undefined
    },

    async rotate(rotation) {
      const parameters = replacePair.parametersOf(rotation)
      const isDone = await inTransaction(() => {
        if (writer.now(replacePair.text, parameters).changes === 0n) return false
        for (const { text, parametersOf } of afterReplacement)
          writer.now(text, parametersOf(rotation))
        return true
      })
      return isDone === true
    },
  }
}
