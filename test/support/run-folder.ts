import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TemporaryFolder } from './processes.ts'

const memory = '/dev/shm'

/** The required free memory in bytes, which is sufficient for the files of a whole run. */
const enough = 4e9

/** Returns whether `/dev/shm` has enough space for temporary files, and allows programs to be executed. */
const hasMemory = (): boolean => {
  if (!existsSync(memory)) return false
  const { bavail, bsize } = statfsSync(memory)
  const mounts = readFileSync('/proc/mounts', 'utf8')
  return bavail * bsize > enough && !/ \/dev\/shm \S+ \S*noexec/.test(mounts)
}

/**
 * Creates the folder for all temporary files of a run, in memory if possible. On a disk, `initdb`, new databases and
 * `npm install` take several times as long.
 */
export const runFolder = async (): Promise<TemporaryFolder> => {
  const path = await mkdtemp(join(hasMemory() ? memory : tmpdir(), 'oauth2server-run-'))
  // PostgreSQL may run as another user.
  await chmod(path, 0o755)
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }),
  }
}
