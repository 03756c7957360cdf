import { existsSync, statfsSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'

const hasRoom = (folder: string): boolean => {
  if (!existsSync(folder)) return false
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize > 1e9
}

// A new database is flushed several times, and every server has a new one.
const parent = hasRoom(memory) ? memory : tmpdir()

/** An empty folder for the database files of a test; in memory, where the system has such folders and room. */
export const databaseFolder = (): Promise<string> => mkdtemp(join(parent, 'oauth2server-test-'))
