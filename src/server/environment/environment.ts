import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { Server as Listener } from 'node:net'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { callback, onlyMembers, text, whole } from '../../model/members.ts'
import { StartProblem } from '../../model/start-problem.ts'
import { InvalidSettings } from '../../settings/invalid-settings.ts'
import { resourcesFrom, withClients } from '../../settings/resources-from-environment.ts'
import { settingsFrom } from '../../settings/settings-from-environment.ts'
import type { SettingsInput } from '../../settings/settings-input.ts'
import type { TransientsOpener } from '../../store/contract/transients.ts'
import type { StoreOpener } from '../../store/store.ts'
import { databaseFrom, transientsFrom } from './environment-stores.ts'
import { withSecretFiles } from './secret-files.ts'
import { newSecretKey, storedSecretKey } from './secret-key-file.ts'

/** The default of `DATABASE_URL`. */
export const defaultDatabase = 'sqlite:./data/oauth2server.sqlite'

/** The variables of an environment, such as `process.env`. */
export type Variables = Readonly<Record<string, string | undefined>>

/** Adds the clients of `--introspection-client` to every resource, so that these clients may introspect all tokens. */
export const withIntrospectionClients: typeof withClients = withClients

/** The configuration that a program reads from its environment to run the authorization server. */
export interface Environment {
  readonly port: number
  readonly host: string
  /** Options for `createAuthorizationServer`. */
  readonly options: SettingsInput & {
    readonly issuer: string
    readonly secretKeys: readonly string[]
    readonly store: StoreOpener
    readonly transients?: TransientsOpener
    readonly resources?: ReturnType<typeof resourcesFrom>
  }
  /** The directory of the database file; undefined for a database in memory and for PostgreSQL. */
  readonly dataFolder: string | undefined
}

/**
 * Reads `PORT`, `HOST`, `BASE_URL`, `DATABASE_URL`, `OAUTH2_CACHE_REDIS_URL`, `SECRET_KEY`, `SECRET_KEY_PREVIOUS`,
 * `OAUTH2SERVER_RESOURCES`, `OAUTH2SERVER_INTROSPECTION_CLIENTS` and the variables of all settings. Without
 * `SECRET_KEY`, uses a key that is generated once and stored in the directory of the SQLite database. For a database in
 * memory, generates a new key each time. A variable that holds a secret may also name a file, such as
 * `SECRET_KEY_FILE`.
 * @throws InvalidSettings, which lists all problems; StoreUnusable if the secret key file cannot be read or created
 */
export const fromEnvironment = async (variables: Variables): Promise<Environment> => {
  const problems: string[] = []
  const env = await withSecretFiles(variables, (problem) => problems.push(problem))
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
  const address = await attempt(() => addressFrom(env))
  const database = await attempt(() => databaseFrom(env.DATABASE_URL ?? defaultDatabase))
  // If no cache type is set, a Redis URL selects the cache type `redis`.
  const { cacheType = 'redis' } = settings ?? {}
  const redisUrl = cacheType === 'redis' ? env.OAUTH2_CACHE_REDIS_URL : undefined
  const transients = redisUrl ? await attempt(() => transientsFrom(redisUrl)) : undefined
  const issuer = env.BASE_URL || `http://localhost:${address?.port}`
  const resources = await attempt(() => resourcesFrom(env, issuer))
  if (database?.isShared && !env.SECRET_KEY)
    problems.push(
      'SECRET_KEY is missing: every node of this database needs the same key of at least 32 random bytes.',
    )
  if (problems.length > 0 || !address || !database) throw new InvalidSettings(problems)

  const { store, dataFolder } = database
  const current =
    env.SECRET_KEY ||
    (dataFolder === undefined ? newSecretKey() : await storedSecretKey(dataFolder))
  const previous = (env.SECRET_KEY_PREVIOUS ?? '').split(',').filter((key) => key !== '')
  return {
    ...address,
    options: {
      ...settings,
      issuer,
      secretKeys: [current, ...previous],
      store,
      ...(transients && { transients }),
      ...(resources?.length ? { resources } : {}),
    },
    dataFolder,
  }
}

/** Reads `PORT` and `HOST`, on which the server listens. @throws InvalidSettings */
export const addressFrom = ({
  PORT = '3000',
  HOST,
}: Variables): Pick<Environment, 'port' | 'host'> => ({
  port: portFrom(PORT),
  host: HOST || '127.0.0.1',
})

const portFrom = (text: string): number => {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port
  throw new InvalidSettings([
    `PORT accepts a number from 1 to 65535; the given value is ${JSON.stringify(text)}.`,
  ])
}

/** The error that is thrown if the server cannot listen on the host and port. The message says what to do. */
export class CannotListen extends StartProblem {
  override readonly name = 'CannotListen'
}

/**
 * The maximum length of the operating system's queue of new connections. The system may have a lower limit. Node
 * accepts one connection per turn of the event loop, so many simultaneous connections would overflow a short queue. A
 * client that finds the queue full retries after a second.
 */
const backlog = 4_096

const checkAddress = onlyMembers<{ readonly port: number; readonly host: string }>('listen()', {
  port: whole(0, 65_535),
  host: text,
})
const checkOptions = onlyMembers<{ readonly drain?: () => void }>('closeOnSignal()', {
  drain: callback,
})

/**
 * Starts an HTTP server, with timeouts for slow senders.
 * @throws CannotListen
 */
export const listen = async (
  handler: RequestListener,
  address: { readonly port: number; readonly host: string },
): Promise<Server> => {
  checkAddress(address)
  const { port, host } = address
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
      EADDRINUSE: 'is already in use',
      EACCES: 'is not allowed for this user',
      EADDRNOTAVAIL: 'is not available: the host is not an IP address of this machine',
    }[error.code ?? ''] ?? `cannot be used (${error.message})`
  return new CannotListen(
    `Port ${port} on ${host} ${why}. Choose another port or host, for instance with PORT=3001.`,
  )
}

/** After a signal, requests in flight have this many milliseconds to complete. */
const gracePeriod = 10_000

/**
 * After a signal, a client has this many milliseconds to send one more request on a keep-alive connection. The response
 * contains `Connection: close`.
 */
const keepAlivePeriod = 1_000

/**
 * Shuts the server down at SIGTERM or SIGINT, in these steps:
 * 1. Runs `drain`, accepts no new connections, and adds `Connection: close` to the responses on open connections.
 * 2. After a second, closes idle connections.
 * 3. When all requests are finished, at the latest ten seconds after the signal, closes all connections, runs `close`
 *    and exits.
 *
 * If the process receives the same signal again, the process terminates immediately.
 */
export const closeOnSignal = (
  server: Server,
  close: () => Promise<void>,
  options: { readonly drain?: () => void } = {},
): void => {
  checkOptions(options)
  const { drain } = options
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
    const end = delay(gracePeriod, undefined, { ref: false })
    await Promise.race([closed, delay(keepAlivePeriod)])
    // On a busy machine, the timer may expire before the process has read requests that arrived during the period. Read
    // them first, because a connection with a request is not idle.
    await nextTurn()
    await nextTurn()
    server.closeIdleConnections()
    await Promise.race([closed, end])
    server.closeAllConnections()
    await close()
    process.exit(0)
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
}

// Stops listening without `Server.close` of node:http. That method also closes idle connections, on which a client may
// be sending a request at this moment.
const stopListening = (server: Server): Promise<void> =>
  new Promise((resolve) => Listener.prototype.close.call(server, () => resolve()))

// Adds `Connection: close`, because an idle keep-alive connection would delay the shutdown by a second.
const endConnection = (response: ServerResponse): void => {
  if (!response.headersSent) response.setHeader('connection', 'close')
}

/** Returns the message of an error that the operator can fix; undefined for any other error. */
export const startProblem = (error: unknown): string | undefined =>
  error instanceof StartProblem ? error.message : undefined
