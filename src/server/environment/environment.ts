import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { Server as Listener } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { InvalidSettings } from '../../settings/invalid-settings.ts'
import type { SettingsInput } from '../../settings/settings.ts'
import { settingsFrom } from '../../settings/settings-from-environment.ts'
import { StoreUnusable } from '../../store/contract/errors.ts'
import type { TransientsOpener } from '../../store/contract/transients.ts'
import type { StoreOpener } from '../../store/store.ts'
import { databaseFrom, transientsFrom } from './environment-stores.ts'
import { newSecretKey, storedSecretKey } from './secret-key-file.ts'

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
    readonly transients?: TransientsOpener
  }
  /** The directory of the database file; undefined in memory and with PostgreSQL. */
  readonly dataFolder: string | undefined
}

/**
 * Reads `PORT`, `HOST`, `BASE_URL`, `DATABASE_URL`, `OAUTH2_CACHE_REDIS_URL`, `SECRET_KEY` and every
 * setting. Without a `SECRET_KEY`, one is generated once, beside the SQLite database.
 * @throws InvalidSettings that lists all that is wrong; StoreUnusable where the data folder cannot be written
 */
export const fromEnvironment = async (env: Variables): Promise<Environment> => {
  const problems: string[] = []
  const attempt = async <T>(read: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof InvalidSettings)) throw error
      problems.push(...error.problems)
      return undefined
    }
  }
  const settings = await attempt(() => settingsFrom(env))
  const port = await attempt(() => portFrom(env.PORT ?? '3000'))
  const database = await attempt(() =>
    databaseFrom(env.DATABASE_URL ?? 'sqlite:./data/oauth2server.sqlite'),
  )
  // The address of Redis is enough; another kind of cache that is asked for wins over it.
  const { cacheType = 'redis' } = settings ?? {}
  const redisUrl = cacheType === 'redis' ? env.OAUTH2_CACHE_REDIS_URL : undefined
  const transients = redisUrl ? await attempt(() => transientsFrom(redisUrl)) : undefined
  if (database?.isShared && !env.SECRET_KEY)
    problems.push(
      'SECRET_KEY is missing: at least 32 random bytes, the same for all that use this database.',
    )
  if (problems.length > 0 || port === undefined || !database) throw new InvalidSettings(problems)

  const { store, dataFolder } = database
  const current =
    env.SECRET_KEY ||
    (dataFolder === undefined ? newSecretKey() : await storedSecretKey(dataFolder))
  const previous = (env.SECRET_KEY_PREVIOUS ?? '').split(',').filter((key) => key !== '')
  return {
    port,
    host: env.HOST || '127.0.0.1',
    options: {
      ...settings,
      issuer: env.BASE_URL || `http://localhost:${port}`,
      secretKeys: [current, ...previous],
      store,
      ...(transients && { transients }),
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

/** The address cannot be listened on. The message says what to do. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen'
}

/**
 * Connections that the operating system keeps until they are accepted, as far as it allows. Node accepts one per turn of
 * the event loop; beyond this number, a client waits a second before it tries again.
 */
const backlog = 4_096

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
    server.listen({ port, host, backlog }, resolve)
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

/** Milliseconds of these in which connections that were kept alive learn that they end. */
const farewell = 1_000

/**
 * At SIGTERM or SIGINT: runs `drain`, accepts no new connection, answers what comes on the others by
 * `Connection: close`, closes those that are idle after a second, finishes the requests in flight within ten
 * seconds of the signal, then runs `close` and ends the process. A second signal ends it at once.
 */
export const closeOnSignal = (
  server: Server,
  close: () => Promise<void>,
  { drain }: { readonly drain?: () => void } = {},
): void => {
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
    drain?.()
    const closed = stopListening(server)
    unanswered.forEach(endConnection)
    const end = delay(grace, undefined, { ref: false })
    await Promise.race([closed, delay(farewell)])
    server.closeIdleConnections()
    await Promise.race([closed, end])
    server.closeAllConnections()
    await close()
    process.exit(0)
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
}

// The server's own `close` cuts idle connections off at once, and with them the requests that are on their way.
const stopListening = (server: Server): Promise<void> =>
  new Promise((resolve) => Listener.prototype.close.call(server, () => resolve()))

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
