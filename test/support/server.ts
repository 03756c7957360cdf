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
import { type Place, type ShortLivedRow, sharedPlace, sqlitePlace } from './place.ts'
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
  /** Returns the short-lived values whose keys begin with a text, from the database or from Redis. */
  shortLived(start: string): Promise<readonly ShortLivedRow[]>
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

/** Whether the tests run on three processes, with PostgreSQL and Redis. */
export const isOnNodes = process.env.TEST_SERVER === 'nodes'

// Functions and objects with methods cannot be sent to other processes. In the project `nodes`, the nodes with such
// options run in this process.
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
  /** The number of nodes in this process besides the first. */
  readonly further: number
  /** Starts to handle requests. Successive requests reach different nodes. */
  open(servers: readonly AuthorizationServer[], options: object, place: Place): Promise<void>
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
    : // A test that observes the store counts the operations of one node.
      thisProcess(demo, isOnNodes && !beside && !options.aroundStore ? 2 : 0))
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
  const create = () =>
    createAuthorizationServer({
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
    })
  const server = await create().catch(async (error: unknown) => {
    await leave()
    throw error
  })
  const others = await Promise.all(Array.from({ length: front.further }, create))
  await front.open([server, ...others], options, place)
  const newUser: TestServer['newUser'] = async (input) => {
    if (options.users) return server.users.create({ ...input, password })
    const user = await server.users.create({ ...input, password: null })
    const keys = new KeyRing((options.secretKeys ?? [secretKey]) as [string])
    await opened().users.update({ id: user.id }, { passwordHash: sealedPassword(keys, user) })
    return user
  }
  const user = beside?.user ?? (await newUser({ email: 'user-a@example.org' }))
  const close = async (): Promise<void> => {
    await Promise.all([server, ...others].map((one) => one.close()))
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
    shortLived: (start) => place.shortLived(beside?.issuer ?? issuer, start),
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

const thisProcess = async (demo: TestOptions['demo'], further: number): Promise<Front> => {
  const http = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const notes = openNotes(undefined)
  return {
    port: (http.address() as AddressInfo).port,
    further,
    async open(servers) {
      const apps = servers.map((server) => createApp(server, notes, demo))
      let received = 0
      http.on('request', (request, response) => {
        apps[received % apps.length]?.(request, response)
        received += 1
      })
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
