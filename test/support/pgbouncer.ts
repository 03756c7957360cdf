import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pgbouncerPath } from './needs.ts'
import { nobody } from './own-postgres.ts'
import { queryAt } from './postgres.ts'
import { freePort, Program } from './processes.ts'

/** A PgBouncer in transaction mode, in front of a PostgreSQL server. A test may stop and restart the PgBouncer. */
export interface OwnPgBouncer extends AsyncDisposable {
  /** Returns the URL of a database through this PgBouncer. */
  urlOf(database: string): string
  start(): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts PgBouncer with the settings of docs/how-to/postgres.md. If the test runs as root, PgBouncer runs as `nobody`.
 */
export const startPgBouncer = async (
  postgres: string,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<OwnPgBouncer> => {
  const folder = await mkdtemp(join(tmpdir(), 'oauth2server-pgbouncer-'))
  const port = await freePort()
  const user = process.getuid?.() === 0 ? await nobody() : undefined
  if (user) await chown(folder, user.uid, user.gid)
  const { hostname, port: target } = new URL(postgres)
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    max_client_conn: 500,
    ignore_startup_parameters: 'statement_timeout,lock_timeout,idle_in_transaction_session_timeout',
    ...settings,
  }
  const file = join(folder, 'pgbouncer.ini')
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`)
  const database = `[databases]\n* = host=${hostname} port=${target} user=postgres\n`
  await writeFile(file, `${database}[pgbouncer]\n${lines.join('\n')}\n`)
  const urlOf = (name: string) =>
    Object.assign(new URL(postgres), { port: String(port), pathname: `/${name}` }).href
  let program: Program | undefined
  const own: OwnPgBouncer = {
    urlOf,
    async start() {
      program = new Program(pgbouncerPath, [file], { limit: Number.POSITIVE_INFINITY, ...user })
      for (;;) {
        try {
          await queryAt(urlOf('postgres'), 'select 1')
          return
        } catch (error) {
          if (program.exit) throw new Error(`PgBouncer ended: ${program.stderr}`, { cause: error })
          await delay(20)
        }
      }
    },
    async stop() {
      await program?.crash()
    },
    async [Symbol.asyncDispose]() {
      await own.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
  await own.start()
  return own
}
