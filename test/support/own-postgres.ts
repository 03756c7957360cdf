import { execFile } from 'node:child_process'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { postgresPrograms } from './needs.ts'
import { freePort, Program } from './processes.ts'

const run = promisify(execFile)

/** A PostgreSQL of the test's own, which it may stop and start. */
export interface OwnPostgres extends AsyncDisposable {
  readonly port: number
  readonly url: string
  start(): Promise<void>
  /** `fast` ends what is being done and shuts down; `immediate` is a crash, and the next start recovers. */
  stop(how: 'fast' | 'immediate'): Promise<void>
}

/** Milliseconds: longer than any file of tests takes. */
const lifetime = 600_000

/** Makes a cluster in a folder of its own, and starts it. PostgreSQL refuses to run as root: then it runs as `nobody`. */
export const startPostgres = async (): Promise<OwnPostgres> => {
  const folder = await mkdtemp(join(tmpdir(), 'oauth2server-postgres-'))
  const port = await freePort()
  const as: string[] = []
  if (process.getuid?.() === 0) {
    const [uid, gid] = await Promise.all(['-u', '-g'].map(idOfNobody))
    await chown(folder, uid ?? 0, gid ?? 0)
    as.push('setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups')
  }
  const command = (name: string, args: readonly string[]): [string, string[]] => {
    const [first = '', ...rest] = [...as, join(postgresPrograms, name), ...args]
    return [first, rest]
  }
  const data = join(folder, 'data')
  const cluster = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C']
  await run(...command('initdb', [...cluster, '--no-sync']))
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  let program: Program | undefined
  const own: OwnPostgres = {
    port,
    url,
    async start() {
      const settings = ['-D', data, '-p', `${port}`, '-h', '127.0.0.1', '-k', folder]
      program = new Program(...command('postgres', settings), { limit: lifetime })
      await answers(url, program)
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
  await own.start()
  return own
}

const idOfNobody = async (flag: string): Promise<number> =>
  Number((await run('id', [flag, 'nobody'])).stdout)

/** Waits until it lets somebody in. */
const answers = async (url: string, program: Program): Promise<void> => {
  for (;;) {
    const client = new Client({ connectionString: url })
    try {
      await client.connect()
      await client.end()
      return
    } catch (error) {
      if (program.exit) throw new Error(`PostgreSQL ended: ${program.stderr}`, { cause: error })
      await delay(20)
    }
  }
}
