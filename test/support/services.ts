import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { has } from './needs.ts'

/** A PostgreSQL cluster and a Redis for this run. */
export interface Services {
  /**
   * The variables of the services: `TEST_POSTGRES_URL` and `TEST_REDIS_URL` if this call started them, and `TMPDIR` if
   * the run has its own folder.
   */
  readonly env: Readonly<Record<string, string>>
  /** Stops the services and deletes their data. */
  stop(): Promise<void>
}

export interface ServicesOptions {
  /** Creates a folder for all temporary files of the run, in memory if there is enough space: see run-folder.ts. */
  readonly hasRunFolder?: boolean
}

/** Returns the services that are installed and whose URLs are not in the environment. */
export const missingServices = async (): Promise<readonly ('postgres' | 'redis')[]> => [
  ...(!process.env.TEST_POSTGRES_URL && (await has('postgres')) ? (['postgres'] as const) : []),
  ...(!process.env.TEST_REDIS_URL && (await has('redis')) ? (['redis'] as const) : []),
]

const program = join(import.meta.dirname, 'services-keeper.ts')

/**
 * Starts the missing services in a keeper process. The keeper stops the services when its standard input closes, which
 * happens even if this process is killed.
 */
export const startServices = async ({
  hasRunFolder = false,
}: ServicesOptions = {}): Promise<Services> => {
  if (!hasRunFolder && (await missingServices()).length === 0)
    return { env: {}, stop: async () => undefined }
  const keeper = spawn(process.execPath, [program, ...(hasRunFolder ? ['--run-folder'] : [])], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // Start a process group, so that Ctrl-C does not stop the keeper before it has deleted the data.
    detached: true,
  })
  const ended = once(keeper, 'close')
  const env = await Promise.race([
    addressesFrom(keeper),
    ended.then(() => Promise.reject(new Error('PostgreSQL or Redis did not start: see above.'))),
  ])
  return {
    env,
    async stop() {
      keeper.stdin?.end()
      await ended
    },
  }
}

/** Returns the URLs from the first line that the keeper writes when all services are ready. */
const addressesFrom = async ({ stdout }: ChildProcess): Promise<Record<string, string>> => {
  if (!stdout) throw new Error('The keeper has no standard output.')
  const [line] = await once(createInterface(stdout), 'line')
  return JSON.parse(line)
}
