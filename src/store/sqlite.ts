import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Kysely } from 'kysely'
import { StoreUnusable } from './contract/errors.ts'
import { newHandle } from './sql/handle.ts'
import { sqlStore } from './sql/sql-store.ts'
import { openDatabase } from './sql/sqlite/database.ts'
import { type SqliteConnection, SqliteDialect } from './sql/sqlite/dialect.ts'
import { sqliteHotPaths } from './sql/sqlite/hot-paths.ts'
import { SqliteThread } from './sql/sqlite/thread.ts'
import { SqliteWriteProbe } from './sql/sqlite/write-probe.ts'
import type { Tables } from './sql/tables.ts'
import type { StoreOpener } from './store.ts'

export interface SqliteOptions {
  /**
   * `NORMAL` (default) loses nothing when the process dies, but may lose the last answers when the
   * power fails; `FULL` loses nothing then either, and costs a disk flush per write.
   */
  readonly synchronous?: 'NORMAL' | 'FULL'
  /** False: writes that come at once do not share a commit. For comparisons; there is no other use for it. */
  readonly batch?: boolean
}

/**
 * An embedded SQLite database in the file at `path`, whose folder is made if it is missing.
 * `:memory:` keeps everything in this process alone.
 */
export const sqlite = (
  path: string,
  { synchronous = 'NORMAL', batch = true }: SqliteOptions = {},
): StoreOpener => ({
  description: `sqlite:${path}`,
  async open(users = 'built-in', keyType = 'integer') {
    const inMemory = path === ':memory:'
    if (!inMemory) await prepareFile(path)
    const connect = () => openDatabase(path, { synchronous })
    const over = (database: SqliteConnection) =>
      new Kysely<Tables>({ dialect: new SqliteDialect(database) })
    const writer = await connect()
    const write = over(writer)
    // A second connection, so that no read waits for a write; a database in memory has but one.
    const reader = inMemory ? writer : await connect()
    const read = inMemory ? write : over(reader)
    const purge = inMemory ? write : over(new SqliteThread(path, synchronous))
    const hot = inMemory ? undefined : sqliteHotPaths({ reader, writer, write, batch })
    // SQLite would take `uuid` for a number, and some identifiers with it.
    const userKey = keyType === 'uuid' ? 'text' : keyType
    const types = { id: 'integer', userKey } as const
    // One transaction writes at a time, so nothing that it has read can change.
    const store = sqlStore(newHandle({ read, write, purge, users, types, locking: false, hot }))
    if (inMemory) return store
    const probe = new SqliteWriteProbe(write)
    const ping = async (): Promise<void> => {
      await store.ping()
      await probe.check()
    }
    return { ...store, ping }
  },
})

const prepareFile = async (path: string): Promise<void> => {
  try {
    await mkdir(dirname(path), { recursive: true })
    // Ours alone from the first byte; the journal files take over this mode.
    const file = await open(path, 'a', 0o600)
    await file.close()
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StoreUnusable(
      `The database file ${path} cannot be written (${reason}). Check the folder's owner and mode, or choose another with DATABASE_URL.`,
    )
  }
}
