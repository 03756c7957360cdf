import type { ConnectionOptions } from 'node:tls'
import { createClient, createCluster } from '@redis/client'
import type { RedisAddress } from './address.ts'
import { answerLimit, within } from './limits.ts'
import { scripts } from './scripts.ts'

/** The commands that are used of a client, be it of one Redis or of a cluster. */
export interface Commands {
  put(key: string, ...values: readonly string[]): Promise<boolean>
  take(key: string, ...values: readonly string[]): Promise<string | undefined>
  increment(key: string, ...values: readonly string[]): Promise<number>
  hmGet(key: string, fields: string[]): Promise<readonly (string | null)[]>
  del(key: string): Promise<number>
  ping(): Promise<string>
}

/** A connection that repairs itself, and refuses commands until it has. */
export interface RedisConnection {
  readonly commands: Commands
  /** Connects for the first time. Rejects where that fails. */
  connect(): Promise<void>
  /** Drops what does not answer, and connects anew. Several callers who met the same silence renew once. */
  renew(met: Commands): void
  close(): void
}

export interface ConnectionSettings {
  readonly address: RedisAddress
  readonly connectTimeout: number
  readonly tls: ConnectionOptions
  /** Called with what went wrong beside any command. */
  readonly onError: (error: Error) => void
}

/** Opens a connection to one Redis, or to a cluster where the address has several nodes. */
export const newConnection = (settings: ConnectionSettings): RedisConnection =>
  settings.address.nodes.length > 1 ? clusterConnection(settings) : singleConnection(settings)

/** Milliseconds. An idle connection is asked for a sign of life, and given up where there is none. */
const pingInterval = 1_000
const longestSilence = 2_500

const optionsOf = (
  { address, connectTimeout, tls }: ConnectionSettings,
  hasBeenOpen: () => boolean,
) => ({
  ...(address.username !== undefined && { username: address.username }),
  ...(address.password !== undefined && { password: address.password }),
  socket: {
    ...(address.tls ? { ...tls, tls: true as const } : {}),
    connectTimeout,
    socketTimeout: longestSilence,
    // A start that fails says so at once; a server that runs waits for Redis to come back.
    reconnectStrategy: (retries: number) => hasBeenOpen() && Math.min(50 * 2 ** retries, 1_000),
  },
  pingInterval,
  // What cannot be answered now is refused now.
  disableOfflineQueue: true,
  // The driver's own limit ends when a command is written, and costs a timer each.
  commandOptions: { timeout: 0 },
  maintNotifications: 'disabled' as const,
})

const singleConnection = (settings: ConnectionSettings): RedisConnection => {
  const { address, onError } = settings
  let state: 'new' | 'open' | 'closed' = 'new'
  const { socket, ...options } = optionsOf(settings, () => state === 'open')
  const create = () =>
    createClient({
      ...options,
      socket: { ...socket, ...address.nodes[0] },
      database: address.database,
      RESP: 2,
      scripts,
    }).on('error', onError)
  let client = create()
  return {
    get commands() {
      return client
    },
    async connect() {
      await client.connect()
      state = 'open'
    },
    renew(met) {
      if (client !== met || state !== 'open') return
      client.destroy()
      client = create()
      client.connect().catch(onError)
    },
    close() {
      state = 'closed'
      client.destroy()
    },
  }
}

const clusterConnection = (settings: ConnectionSettings): RedisConnection => {
  const { address, onError } = settings
  let state: 'new' | 'open' | 'closed' = 'new'
  let isRenewing = false
  const cluster = createCluster({
    rootNodes: address.nodes.map((socket) => ({ socket })),
    defaults: optionsOf(settings, () => state === 'open'),
    RESP: 2,
    scripts,
  })
    .on('error', onError)
    .on('node-error', onError)
  return {
    commands: cluster,
    async connect() {
      await cluster.connect()
      state = 'open'
    },
    renew() {
      if (isRenewing || state !== 'open') return
      isRenewing = true
      const dropped = cluster.masters.map(async (node) => {
        const { client } = node
        if (!client?.isReady) return
        await within(answerLimit, client.ping()).catch(() => {
          if (node.client === client) delete node.client
          client.destroy()
        })
      })
      Promise.all(dropped).finally(() => {
        isRenewing = false
      })
    },
    close() {
      state = 'closed'
      cluster.destroy()
    },
  }
}
