import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type ClientInput,
  createAuthorizationServer,
  type LogEntry,
  type StoreOpener,
  type User,
} from 'svc-oauth2server'
import { createApp } from '../../examples/notes/app.ts'
import { openNotes } from '../../examples/notes/notes.ts'
import type { Demo } from '../../examples/notes/start-page/routes.ts'
import { KeyRing } from '../../src/crypto/sealed.ts'
import type { UserInput } from '../../src/records/users/users.ts'
import type { OpenStore } from '../../src/store/store.ts'
import { password, sealedPassword } from './known-password.ts'
import { type Place, sharedPlace, sqlitePlace } from './place.ts'
import { redirectUri } from './redirect-uris.ts'
import { testScopes } from './scopes.ts'
import { threeNodes } from './three-nodes.ts'

export { redirectUri, testScopes }
export const secretKey = 'a test secret key of more than 32 bytes'

/**
 * The notes application with the embedded authorization server, which listens on a port and uses a SQLite file. In the
 * vitest project `nodes`, three processes use PostgreSQL and Redis, and successive requests reach different nodes.
 */
export interface TestServer {
  readonly issuer: string
  /** The server object in this process. It uses the same database as the other nodes. */
  readonly server: AuthorizationServer
  readonly place: Place
  readonly folder: string
  readonly database: string
  readonly log: readonly LogEntry[]
  /** A user with the password `password`. */
  readonly user: User
  readonly password: string
  /** Creates a further user. */
  newUser(input: Omit<UserInput, 'password'>): Promise<User>
  /** Moves the clock of the server forward. */
  advance(seconds: number): void
  now(): number
  /** Returns the rows of a query on the database. */
  query(sql: string): Promise<readonly Record<string, unknown>[]>
  /** Registers a client of the user, by default confidential and with `redirectUri`. */
  client(input?: Partial<ClientInput>): Promise<{ clientId: string; clientSecret: string }>
  /** Creates a personal token of the user and returns its value. */
  personalToken(scopes?: readonly string[]): Promise<string>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type TestOptions = Partial<AuthorizationServerOptions> & {
  /** The path of the issuer. */
  readonly basePath?: string
  /** A server whose database, clock and user the new server shares, as a second node. */
  readonly beside?: TestServer
  /** Returns the demo data of the notes application. */
  readonly demo?: () => Demo | undefined
}

/** Options that cause no start-up warnings, for a test that reads the whole log. */
export const withoutWarnings = {
  allowedResponseTypes: ['code'],
  acceptQueryAccessToken: false,
} as const

const isOnNodes = process.env.TEST_SERVER === 'nodes'

// Functions and objects with methods cannot be sent to other processes. A server with such options runs in this
// process.
const canBeSent = (options: object): boolean =>
  Object.values(options).every((value) => value === undefined || isPlain(value))

const isPlain = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function'
  const prototype = Object.getPrototypeOf(value)
  return (
    (prototype === Object.prototype || Array.isArray(value)) && Object.values(value).every(isPlain)
  )
}

/** The HTTP server of a test: this process, or a proxy in front of three processes. */
export interface Front {
  readonly port: number
  /** Starts to handle requests. */
  open(server: AuthorizationServer, options: object, place: Place): Promise<void>
  /** The log entries of other processes. */
  log(): readonly LogEntry[]
  close(): Promise<void>
}

export const startServer = async ({
  basePath = '',
  beside,
  demo,
  ...options
}: TestOptions = {}): Promise<TestServer> => {
  const place = beside?.place ?? (await (isOnNodes ? sharedPlace() : sqlitePlace()))
  const front = await (isOnNodes && !beside && canBeSent(options)
    ? threeNodes(secretKey)
    : thisProcess(demo))
  const issuer = `http://localhost:${front.port}${basePath}`
  const { store, opened } = keptOpen(options.store ?? place.options.store)
  // The second node has another port, and therefore another issuer, but shares the short-lived values.
  const { transients } = place.options
  const shared = beside &&
    transients && { transients: { ...transients, open: () => transients.open(beside.issuer) } }
  const log: LogEntry[] = []
  const leave = async (): Promise<void> => {
    await front.close()
    if (!beside) await place.remove()
  }
  const server = await createAuthorizationServer({
    issuer,
    secretKeys: [secretKey],
    ...place.options,
    ...shared,
    scopes: testScopes,
    clock: place.now,
    log: (entry) => log.push(entry),
    sweepInterval: 0,
    ...options,
    store,
  }).catch(async (error: unknown) => {
    await leave()
    throw error
  })
  await front.open(server, options, place)
  const newUser: TestServer['newUser'] = async (input) => {
    if (options.users) return server.users.create({ ...input, password })
    const user = await server.users.create({ ...input, password: null })
    const keys = new KeyRing((options.secretKeys ?? [secretKey]) as [string])
    await opened().users.setPassword(user.id, sealedPassword(keys, user))
    return user
  }
  const user = beside?.user ?? (await newUser({ email: 'user-a@example.org' }))
  const close = async (): Promise<void> => {
    await server.close()
    await leave()
  }
  return {
    issuer,
    server,
    place,
    folder: place.folder,
    database: place.database,
    get log() {
      return isOnNodes ? [...log, ...front.log()] : log
    },
    user,
    password,
    newUser,
    advance: place.advance,
    now: place.now,
    query: place.query,
    async client(input = {}) {
      const { client, clientSecret } = await server.clients.create({
        name: 'Client',
        userId: user.id,
        redirectUris: [redirectUri],
        ...input,
      })
      return { clientId: client.clientId, clientSecret }
    },
    async personalToken(scopes = []) {
      return (await server.tokens.createPersonal('Test', user.id, { scopes })).accessToken
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Wraps a store opener. `opened` returns the store that the server opened. */
const keptOpen = (opener: StoreOpener) => {
  let open: OpenStore | undefined
  const store: StoreOpener = {
    ...opener,
    async open(...args) {
      open = await opener.open(...args)
      return open
    },
  }
  const opened = (): OpenStore => {
    if (!open) throw new Error('The store was not opened.')
    return open
  }
  return { store, opened }
}

const thisProcess = async (demo: TestOptions['demo']): Promise<Front> => {
  const http = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const notes = openNotes(undefined)
  return {
    port: (http.address() as AddressInfo).port,
    async open(server) {
      http.on('request', createApp(server, notes, demo))
    },
    log: () => [],
    async close() {
      await new Promise<void>((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      })
      notes.close()
    },
  }
}
