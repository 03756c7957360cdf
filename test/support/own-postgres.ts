import { execFile } from 'node:child_process'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { postgresPrograms } from './needs.ts'
import { queryAt } from './postgres.ts'
import { freePort, Program } from './processes.ts'

const run = promisify(execFile)

/** A PostgreSQL server that a test may stop and start. */
export interface OwnPostgres extends AsyncDisposable {
  readonly port: number
  readonly url: string
  start(): Promise<void>
  /** `fast` aborts running transactions and shuts down; `immediate` is a crash, and the next start recovers. */
  stop(how: 'fast' | 'immediate'): Promise<void>
}

/** A streaming replica, which accepts writes after its promotion. */
export interface Replica extends OwnPostgres {
  /** Promotes the replica to a primary. Resolves when the new primary accepts writes. */
  promote(): Promise<void>
}

/** Creates and starts an empty cluster. @param settings settings of the server, such as `max_connections=500` */
export const startPostgres = (settings: readonly string[] = []): Promise<OwnPostgres> =>
  startCluster('initdb', ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'], settings)

/** Copies a running primary, and starts the copy as its replica. */
export const startReplica = async (
  primary: OwnPostgres,
  settings: readonly string[] = [],
): Promise<Replica> => {
  const copy = ['-d', primary.url, '--write-recovery-conf', '--checkpoint=fast']
  const replica = await startCluster('pg_basebackup', copy, settings)
  return {
    ...replica,
    async promote() {
      await queryAt(replica.url, 'select pg_promote()')
    },
  }
}

/**
 * Creates and starts a cluster in a new folder. If the test runs as root, the server runs as `nobody`, because
 * PostgreSQL refuses to run as root.
 */
const startCluster = async (
  maker: 'initdb' | 'pg_basebackup',
  args: readonly string[],
  settings: readonly string[],
): Promise<OwnPostgres> => {
  const folder = await mkdtemp(join(tmpdir(), 'oauth2server-postgres-'))
  const port = await freePort()
  const user = process.getuid?.() === 0 ? await nobody() : undefined
  if (user) await chown(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const place = ['-D', data, '-p', `${port}`, '-h', '127.0.0.1', '-k', folder]
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  let program: Program | undefined
  const own: OwnPostgres = {
    port,
    url,
    async start() {
      program = new Program(
        join(postgresPrograms, 'postgres'),
        [...place, ...settings.flatMap((setting) => ['-c', setting])],
        // After SIGQUIT, PostgreSQL frees its shared memory. SIGKILL would leave the memory allocated.
        { limit: Number.POSITIVE_INFINITY, signalWithParent: 'SIGQUIT', ...user },
      )
      await untilReady(url, program)
    },
    async stop(how) {
      program?.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
      await program?.exited
    },
    async [Symbol.asyncDispose]() {
      await own.stop('immediate')
      await rm(folder, { recursive: true, force: true, maxRetries: 3 })
    },
  }
  try {
    await run(join(postgresPrograms, maker), ['-D', data, '--no-sync', ...args], { ...user })
    await own.start()
  } catch (error) {
    await own[Symbol.asyncDispose]()
    throw error
  }
  return own
}

/** The user of PostgreSQL and PgBouncer if a test runs as root. */
export const nobody = async (): Promise<{ readonly uid: number; readonly gid: number }> => {
  const idOf = async (flag: string) => Number((await run('id', [flag, 'nobody'])).stdout)
  return { uid: await idOf('-u'), gid: await idOf('-g') }
}

/** Waits until the server accepts connections. */
const untilReady = async (url: string, program: Program): Promise<void> => {
  for (;;) {
    try {
      await queryAt(url, 'select 1')
      return
    } catch (error) {
      if (program.exit) throw new Error(`PostgreSQL ended: ${program.stderr}`, { cause: error })
      await delay(20)
    }
  }
}
