import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { query } from './database.ts'
import type { TestData } from './observed-test-data.ts'
import { makeDatabase } from './postgres.ts'

/** A command to the process of the observed server. */
export type Order =
  | { readonly do: 'probe' }
  | { readonly do: 'sweep' }
  /** Returns the processor time of the requests since the last order. */
  | { readonly do: 'costs' }
  /** Makes the random source of the server deterministic, with this seed; null makes it random again. */
  | { readonly do: 'random'; readonly seed: number | null }
  | { readonly do: 'createTestData'; readonly set: number }

/** Measurements in bytes or counts, after a garbage collection. */
export interface Probe {
  readonly rss: number
  readonly heapUsed: number
  readonly external: number
  /** The number of open connections of the HTTP server. */
  readonly connections: number
  /** The number of resources that keep the process alive, by type. */
  readonly handles: Readonly<Record<string, number>>
  /** The number of open file descriptors. */
  readonly files: number
}

/** A problem of the observed process: an entry in the log of the server, or an error or warning of Node. */
export interface Complaint {
  readonly kind: string
  readonly text: string
}

/** The notes application in a separate process, which reports its memory, handles and errors. */
export interface ObservedServer {
  readonly port: number
  readonly url: string
  readonly pid: number
  readonly complaints: readonly Complaint[]
  /** The exit status or signal, if the process exited by itself. */
  readonly ended: string | undefined
  probe(): Promise<Probe>
  sweep(): Promise<void>
  /**
   * Returns the processor time, in microseconds, of each request with the header `x-measured` since the last call, by the
   * value of the header.
   */
  costs(): Promise<Readonly<Record<string, number>>>
  random(seed: number | null): Promise<void>
  createTestData(set: number): Promise<TestData>
  /** The number of rows of each table. */
  rows(): Promise<Readonly<Record<string, number>>>
  stop(): Promise<void>
}

export interface ObservedOptions {
  readonly store?: 'sqlite' | 'postgres'
  /** Settings as JSON values. */
  readonly options?: Readonly<Record<string, unknown>>
  /** The maximum size of the headers of a request in bytes. Default: the default of Node. */
  readonly maxHeaderSize?: number
}

interface Place {
  readonly database: string
  query(sql: string): Promise<readonly Record<string, unknown>[]>
  readonly tables: string
  remove(): Promise<void>
}

const place = async (store: string): Promise<Place> => {
  if (store === 'postgres') {
    const { url, query: ask, drop } = await makeDatabase()
    const tables = `select table_name as name from information_schema.tables where table_name like 'oauth2server_%'`
    return { database: url, query: (sql) => ask(sql), tables, remove: drop }
  }
  const folder = await mkdtemp(join(tmpdir(), 'oauth2server-observed-'))
  const database = join(folder, 'observed.sqlite')
  return {
    database,
    query: async (sql) => query(database, sql),
    tables: `select name from sqlite_master where type = 'table' and name like 'oauth2server_%'`,
    remove: () => rm(folder, { recursive: true }),
  }
}

/** Settings that enable every optional standard and every grant. */
export const everything = {
  allowedGrantTypes: ['client_credentials', 'refresh_token', 'authorization_code', 'password'],
  openidConnect: true,
  requestObjects: true,
  allowFrontChannelIdTokens: true,
  deviceAuthorization: true,
  tokenExchange: true,
  dynamicRegistration: 'open',
  clientIdMetadataDocuments: true,
  trustedProxies: ['127.0.0.0/8'],
  sessionIpv4Prefix: 0,
  tokenPersonalPrefix: 'fuzz_',
  logLevel: 'info',
} as const

export const startObserved = async ({
  store = 'sqlite',
  options = {},
  maxHeaderSize,
}: ObservedOptions = {}): Promise<ObservedServer> => {
  const { database, query: ask, tables, remove } = await place(store)
  const child = fork(join(import.meta.dirname, 'observed-host.ts'), [], {
    execArgv: [
      '--expose-gc',
      ...(maxHeaderSize === undefined ? [] : [`--max-http-header-size=${maxHeaderSize}`]),
    ],
    env: {
      PATH: process.env.PATH ?? '',
      OBSERVED_STORE: store,
      OBSERVED_DATABASE: database,
      OBSERVED_OPTIONS: JSON.stringify({ ...everything, ...options }),
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const complaints: Complaint[] = []
  const asked = new Map<number, { done(response: never): void; failed(error: Error): void }>()
  let ended: string | undefined
  let ready: (port: number) => void = () => {}
  const listening = new Promise<number>((resolve) => {
    ready = resolve
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (text.trim() !== '') complaints.push({ kind: 'stderr', text })
  })
  child.on('message', (message: Record<string, never>) => {
    if ('ready' in message) ready(message.ready as number)
    if ('complaint' in message) complaints.push(message.complaint as Complaint)
    if (!('id' in message)) return
    const waiting = asked.get(message.id as number)
    asked.delete(message.id as number)
    if ('error' in message) waiting?.failed(new Error(String(message.error)))
    else waiting?.done(message.response as never)
  })
  const exit = once(child, 'exit').then(([code, signal]) => {
    ended = String(signal ?? code)
    for (const { failed } of asked.values()) failed(new Error(`The server has ended: ${ended}.`))
  })
  let last = 0
  const send = <T>(order: Order): Promise<T> =>
    new Promise((done, failed) => {
      if (ended !== undefined) return failed(new Error(`The server has ended: ${ended}.`))
      last += 1
      asked.set(last, { done: done as (response: never) => void, failed })
      child.send({ id: last, order })
    })
  const port = await Promise.race([
    listening,
    exit.then(async () => {
      await remove()
      throw new Error(`The server does not start: ${complaints.map(({ text }) => text).join('\n')}`)
    }),
  ])
  return {
    port,
    url: `http://localhost:${port}`,
    pid: child.pid ?? 0,
    complaints,
    get ended() {
      return ended
    },
    probe: () => send({ do: 'probe' }),
    sweep: () => send({ do: 'sweep' }),
    costs: () => send({ do: 'costs' }),
    random: (seed) => send({ do: 'random', seed }),
    createTestData: (set) => send({ do: 'createTestData', set }),
    async rows() {
      const names = (await ask(tables)).map(({ name }) => String(name)).sort()
      const counts: Record<string, number> = {}
      for (const name of names) {
        const [row] = await ask(`select count(*) as count from ${name}`)
        counts[name.replace('oauth2server_', '')] = Number(row?.count)
      }
      return counts
    },
    async stop() {
      if (ended === undefined) child.kill('SIGKILL')
      await exit
      await remove()
    },
  }
}
