import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Kysely } from 'kysely'
import { accepted, flag, oneOf, onlyMembers } from '../model/members.ts'
import { StoreUnusable } from './contract/errors.ts'
import { newHandle } from './sql/handle.ts'
import { sqlStore } from './sql/sql-store.ts'
import { checkpointsIn } from './sql/sqlite/checkpoints.ts'
import { openDatabase } from './sql/sqlite/database.ts'
import { type SqliteConnection, sqliteDialect } from './sql/sqlite/dialect.ts'
import { sqliteHotPaths } from './sql/sqlite/hot-paths.ts'
import { SqliteThread, sqliteWorkerFile } from './sql/sqlite/thread.ts'
import { SqliteWriteProbe } from './sql/sqlite/write-probe.ts'
import type { Tables } from './sql/tables.ts'
import type { StoreOpener } from './store.ts'

/** The options of `sqlite(path)`. */
export interface SqliteOptions {
  /**
   * With `NORMAL` (default), a crash of the process loses nothing, but a power failure may lose the last commits. With
   * `FULL`, a power failure loses nothing either, at the cost of a disk flush per commit.
   */
  readonly synchronous?: 'NORMAL' | 'FULL'
  /** Whether concurrent writes share a commit. Default true. Only benchmarks set this option to false. */
  readonly batch?: boolean
}

/**
 * An embedded SQLite database in the file at `path`. Creates the directory if it is missing. `:memory:` stores
 * everything in the memory of this process.
 * @throws TypeError for an unknown option or a wrong value
 */
export const sqlite = (path: string, options: SqliteOptions = {}): StoreOpener => {
  const [problem] = file.problems('sqlite(): the path', path)
  if (problem !== undefined) throw new TypeError(problem)
  checkOptions(options)
  return openerOf(path, options)
}

// SQLite would create a temporary database for an empty path.
const file = accepted(
  'the path of a file, or :memory:',
  (value) => typeof value === 'string' && value !== '',
)
const checkOptions = onlyMembers<SqliteOptions>('sqlite()', {
  synchronous: oneOf('NORMAL', 'FULL'),
  batch: flag,
})

const openerOf = (
  path: string,
  { synchronous = 'NORMAL', batch = true }: SqliteOptions,
): StoreOpener => ({
  description: `sqlite:${path}`,
  async open(users = 'built-in', keyType = 'integer') {
    const inMemory = path === ':memory:'
    if (!inMemory) await prepareFile(path)
    const connect = () => openDatabase(path, { synchronous })
    const over = (database: SqliteConnection) =>
      new Kysely<Tables>({ dialect: sqliteDialect(database) })
    const writer = await connect()
    const write = over(writer)
    // Reads use a second connection, so that they do not wait for writes. A database in memory has a single connection.
    const reader = inMemory ? writer : await connect()
    const read = inMemory ? write : over(reader)
    const file = inMemory ? undefined : sqliteWorkerFile()
    const thread = file && new SqliteThread(file, path, synchronous)
    const purge = thread ? over(thread) : write
    if (thread) writer.onCheckpointDue = checkpointsIn(thread, write)
    // A column of type `uuid` has numeric affinity in SQLite, which would convert some identifiers to numbers.
    const userKey = keyType === 'uuid' ? 'text' : keyType
    const types = { id: 'integer', userKey } as const
    // SQLite runs only one writing transaction at a time, so the store does not lock rows.
    const tables = { read, write, purge, users, types, locking: false }
    const hot = inMemory ? undefined : sqliteHotPaths({ reader, writer, tables, batch })
    const store = sqlStore(newHandle({ ...tables, hot }))
    if (inMemory) return store
    const probe = new SqliteWriteProbe(write)
    const ping = async (): Promise<void> => {
      await store.ping()
      await probe.check()
    }
    const close = async (): Promise<void> => {
      await thread?.close()
      await store.close()
      // Kysely closes only the connections that it has used, and hot paths use the connections directly.
      writer.close()
      reader.close()
    }
    return { ...store, ping, close }
  },
})

const prepareFile = async (path: string): Promise<void> => {
  try {
    await mkdir(dirname(path), { recursive: true })
    // Only the owner may read the file. SQLite creates the journal files with the same mode.
    const file = await open(path, 'a', 0o600)
    await file.close()
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StoreUnusable(
      `The database file ${path} cannot be written (${reason}). Check the owner and mode of the directory, or choose another file with DATABASE_URL.`,
    )
  }
}
