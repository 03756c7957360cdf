import { isIP } from 'node:net'
import type { ConnectionSettings } from './connection.ts'

/** Milliseconds between pings of an idle connection, which is closed without an answer. */
const pingInterval = 1_000
const longestSilence = 2_500

/** Milliseconds between two tries to connect, longer each time. */
const pause = (retries: number): number => Math.min(50 * 2 ** retries, 1_000)

/** What every client is made with, those of a cluster too. */
export const clientOptions = (
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
    reconnectStrategy: (retries: number) => hasBeenOpen() && pause(retries),
  },
  pingInterval,
  // What cannot be answered now is refused now.
  disableOfflineQueue: true,
  // The driver's own limit ends when a command is written, and costs a timer each.
  commandOptions: { timeout: 0 },
  maintNotifications: 'disabled' as const,
})

interface Node {
  readonly host: string
  readonly port: number
}

/** The node with its name for TLS: one address may serve several names, and the driver does not say which is meant. */
export const withServerName = ({ host, port }: Node): Node & { readonly servername?: string } =>
  isIP(host) === 0 ? { host, port, servername: host } : { host, port }

/** Milliseconds within which Redis has to answer a command. */
export const answerLimit = 1_000
