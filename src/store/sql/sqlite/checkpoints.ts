import type { Kysely } from 'kysely'
import type { Tables } from '../tables.ts'
import type { SqliteThread } from './thread.ts'

/**
 * Returns the function that copies the write-ahead log to the database file, in another thread. A checkpoint waits for
 * the disk, and takes about as long as the commits since the last checkpoint. So the first pass runs beside the writes.
 * The second pass delays the writes, and copies the few pages that were written during the first pass. Only after a
 * complete copy can SQLite overwrite the log from its beginning.
 */
export const checkpointsIn = (
  thread: SqliteThread,
  write: Kysely<Tables>,
): (() => Promise<void>) => {
  let isRunning = false
  // If the thread is busy, a later checkpoint copies these pages. A `passive` checkpoint never waits for readers.
  const copy = async (): Promise<void> => {
    if (thread.isIdle) await thread.run('pragma wal_checkpoint(passive)', [])
  }
  return async () => {
    if (isRunning) return
    isRunning = true
    try {
      await copy()
      await write.connection().execute(copy)
    } catch {
      // If the thread ended or the disk failed, the log keeps the pages. A later commit copies them, or reports the error.
    } finally {
      isRunning = false
    }
  }
}
