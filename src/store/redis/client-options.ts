import { isIP } from 'node:net'
import type { ConnectionSettings } from './connection.ts'

/** Milliseconds between two pings. A connection that receives nothing for `maxSilence` milliseconds is closed. */
const pingInterval = 1_000
const maxSilence = 2_500

/**
 * Returns the milliseconds before the next attempt to connect. The pause doubles with each attempt, up to one second.
 */
const pause = (retries: number): number => Math.min(50 * 2 ** retries, 1_000)

/**
 * Returns the options of every client, including the clients for the nodes of a cluster.
 * @param wasOpen returns whether the connection has been open before
 */
export const clientOptions = (
  { address, connectTimeout, tls }: ConnectionSettings,
  wasOpen: () => boolean,
) => ({
  ...(address.username !== undefined && { username: address.username }),
  ...(address.password !== undefined && { password: address.password }),
  socket: {
    ...(address.tls ? { ...tls, tls: true as const } : {}),
    connectTimeout,
    socketTimeout: maxSilence,
    // At start-up, a failed connection is reported immediately. A running server retries until Redis is available again.
    reconnectStrategy: (retries: number) => wasOpen() && pause(retries),
  },
  pingInterval,
  // Commands fail immediately during an outage, instead of waiting in a queue.
  disableOfflineQueue: true,
  // Disable the timeout of the driver, because it does not include the reply, and creates a timer for each command.
  commandOptions: { timeout: 0 },
  maintNotifications: 'disabled' as const,
})

interface Node {
  readonly host: string
  readonly port: number
}

/**
 * Adds the host name for TLS, because the driver does not send the name. A Redis with several certificates chooses the
 * certificate by this name.
 */
export const withServerName = ({ host, port }: Node): Node & { readonly servername?: string } =>
  isIP(host) === 0 ? { host, port, servername: host } : { host, port }

/** The timeout for the reply to a command, in milliseconds. */
export const responseLimit = 1_000
