import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type ClientInput,
  createAuthorizationServer,
  emailScope,
  type LogEntry,
  Scope,
  type User,
} from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { createApp } from '../../examples/notes/app.ts'
import { openNotes } from '../../examples/notes/notes.ts'

export const secretKey = 'a test secret key of more than 32 bytes'
export const redirectUri = 'https://client.example/cb'

/** A notes application with the authorization server embedded, really listening, on a real SQLite file. */
export interface TestServer {
  readonly issuer: string
  readonly server: AuthorizationServer
  readonly folder: string
  readonly database: string
  readonly log: readonly LogEntry[]
  /** A user with the password `password`. */
  readonly user: User
  readonly password: string
  /** Moves the server's clock. */
  advance(seconds: number): void
  now(): number
  /** A confidential client, unless told otherwise, of the user; with `redirectUri`. */
  client(input?: Partial<ClientInput>): Promise<{ clientId: string; clientSecret: string }>
  /** The value of a new personal token of the user. */
  personalToken(scopes?: readonly string[]): Promise<string>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type TestOptions = Partial<AuthorizationServerOptions> & {
  /** The issuer's path. */
  readonly basePath?: string
}

export const testScopes = [
  emailScope,
  new Scope('notes:read', { helpText: 'Read your notes', group: 'Notes' }),
  new Scope('notes:write', { helpText: 'Write and delete your notes', group: 'Notes' }),
  new Scope('test:scope', { helpText: 'For tests', internal: true }),
]

export const startServer = async ({
  basePath = '',
  ...options
}: TestOptions = {}): Promise<TestServer> => {
  const folder = await mkdtemp(join(tmpdir(), 'oauth2server-test-'))
  const database = join(folder, 'test.sqlite')
  const http = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const issuer = `http://localhost:${(http.address() as AddressInfo).port}${basePath}`
  const log: LogEntry[] = []
  let now = Date.UTC(2026, 10, 21)
  const server = await createAuthorizationServer({
    issuer,
    secretKeys: [secretKey],
    store: sqlite(database),
    scopes: testScopes,
    clock: () => now,
    log: (entry) => log.push(entry),
    sweepInterval: 0,
    ...options,
  })
  const notes = openNotes(undefined)
  http.on('request', createApp(server, notes))
  const password = 'correct horse battery staple'
  const user = await server.users.create({ email: 'user-a@example.org', password })
  const close = async (): Promise<void> => {
    await stop(http)
    notes.close()
    await server.close()
    await rm(folder, { recursive: true })
  }
  return {
    issuer,
    server,
    folder,
    database,
    log,
    user,
    password,
    advance: (seconds) => {
      now += seconds * 1000
    },
    now: () => now,
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

const stop = (http: Server): Promise<void> =>
  new Promise((resolve) => {
    http.close(() => resolve())
    http.closeAllConnections()
  })
