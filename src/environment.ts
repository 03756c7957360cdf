import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { InvalidSettings, type SettingsInput, settingsFrom } from './options.ts'
import { sqlite } from './store/sqlite.ts'
import { type StoreOpener, StoreUnusable } from './store/store.ts'

/** The variables of an environment, such as `process.env`. */
export type Variables = Readonly<Record<string, string | undefined>>

/** What a program that runs the authorization server reads from its environment. */
export interface Environment {
  readonly port: number
  readonly host: string
  /** Options for `createAuthorizationServer`. */
  readonly options: SettingsInput & {
    readonly issuer: string
    readonly secretKeys: readonly string[]
    readonly store: StoreOpener
  }
  /** The folder of the database file; undefined for a database in memory. */
  readonly dataFolder: string | undefined
}

/**
 * Reads `PORT`, `HOST`, `BASE_URL`, `DATABASE_URL`, `SECRET_KEY` and every setting. Without a
 * `SECRET_KEY`, one is generated once, beside the SQLite database.
 * @throws InvalidSettings that lists all that is wrong; StoreUnusable where the data folder cannot be written
 */
export const fromEnvironment = async (env: Variables): Promise<Environment> => {
  const problems: string[] = []
  const attempt = <T>(read: () => T, otherwise: T): T => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof InvalidSettings)) throw error
      problems.push(...error.problems)
      return otherwise
    }
  }
  const settings = attempt(() => settingsFrom(env), {})
  const port = attempt(() => portFrom(env.PORT ?? '3000'), 3000)
  const database = attempt(
    () => databaseFrom(env.DATABASE_URL ?? 'sqlite:./data/oauth2server.sqlite'),
    ':memory:',
  )
  if (env.OAUTH2_CACHE_REDIS_URL)
    problems.push(
      'OAUTH2_CACHE_REDIS_URL is not available yet: keep short-lived values in the database.',
    )
  if (problems.length > 0) throw new InvalidSettings(problems)

  const dataFolder = database === ':memory:' ? undefined : dirname(database)
  const current = env.SECRET_KEY || (await storedSecretKey(dataFolder))
  const previous = (env.SECRET_KEY_PREVIOUS ?? '').split(',').filter((key) => key !== '')
  return {
    port,
    host: env.HOST || '127.0.0.1',
    options: {
      ...settings,
      issuer: env.BASE_URL || `http://localhost:${port}`,
      secretKeys: [current, ...previous],
      store: sqlite(database),
    },
    dataFolder,
  }
}

const portFrom = (text: string): number => {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port
  throw new InvalidSettings([
    `PORT accepts a number from 1 to 65535; given was ${JSON.stringify(text)}.`,
  ])
}

const databaseFrom = (url: string): string => {
  if (/^postgres(?:ql)?:/.test(url)) {
    throw new InvalidSettings(['DATABASE_URL: PostgreSQL is not available yet; use sqlite:PATH.'])
  }
  const [, path] = /^sqlite:(.+)$/.exec(url) ?? []
  if (path !== undefined) return path
  throw new InvalidSettings(['DATABASE_URL accepts sqlite:PATH or sqlite::memory:.'])
}

const newSecretKey = (): string => randomBytes(48).toString('base64url')

const storedSecretKey = async (folder: string | undefined): Promise<string> => {
  if (folder === undefined) return newSecretKey()
  const file = join(folder, 'secret-key')
  try {
    await mkdir(folder, { recursive: true })
    return (await read(file)) ?? (await create(file))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StoreUnusable(
      `The secret key file ${file} cannot be read or made (${reason}). Check the folder's owner and mode, or set SECRET_KEY.`,
    )
  }
}

const read = async (file: string): Promise<string | undefined> => {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

// Written aside and linked, so that of two first starts one key wins, and nobody reads half of it.
const create = async (file: string): Promise<string> => {
  // A name of its own: in two containers that share the folder, both are process 1.
  const aside = `${file}.${randomBytes(8).toString('hex')}`
  await writeFile(aside, `${newSecretKey()}\n`, { mode: 0o600, flag: 'wx' })
  try {
    await link(aside, file)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    await unlink(aside)
  }
  return (await read(file)) ?? ''
}

/** The address cannot be listened on. The message says what to do. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen'
}

/**
 * Listens, with time limits for slow senders.
 * @throws CannotListen
 */
export const listen = async (
  handler: RequestListener,
  { port, host }: { readonly port: number; readonly host: string },
): Promise<Server> => {
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, handler)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, port, host)))
    server.listen(port, host, resolve)
  })
  return server
}

const cannotListen = (error: NodeJS.ErrnoException, port: number, host: string): CannotListen => {
  const why =
    {
      EADDRINUSE: 'is in use already',
      EACCES: 'is not allowed for this user',
      EADDRNOTAVAIL: 'is no address of this machine',
    }[error.code ?? ''] ?? `cannot be used (${error.message})`
  return new CannotListen(
    `Port ${port} on ${host} ${why}. Choose another with PORT or HOST, for instance PORT=3001.`,
  )
}

/** Milliseconds that requests in flight get after a signal. */
const grace = 10_000

/** At SIGTERM or SIGINT: takes no new request, finishes those in flight, then runs `close`. */
export const closeOnSignal = (server: Server, close: () => Promise<void>): void => {
  let closing = false
  const unanswered = new Set<ServerResponse>()
  server.prependListener('request', (_request, response: ServerResponse) => {
    if (closing) endConnection(response)
    unanswered.add(response)
    response.once('close', () => unanswered.delete(response))
  })
  const stop = async () => {
    if (closing) return
    closing = true
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeIdleConnections()
    unanswered.forEach(endConnection)
    await Promise.race([closed, delay(grace, undefined, { ref: false })])
    server.closeAllConnections()
    await close()
    process.exit(0)
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
}

// A connection that is kept alive would hold up the end for seconds after its last answer.
const endConnection = (response: ServerResponse): void => {
  if (!response.headersSent) response.setHeader('connection', 'close')
}

/** The message of an error that keeps a program from starting; undefined for one that is a fault of ours. */
export const startProblem = (error: unknown): string | undefined =>
  error instanceof InvalidSettings ||
  error instanceof StoreUnusable ||
  error instanceof CannotListen
    ? error.message
    : undefined
