import { isIP } from 'node:net'
import type { ConnectionSettings } from './connection.ts'

/** Milliseconds between pings of an idle connection. A connection without a reply is closed after `maxSilence`. */
const pingInterval = 1_000
const maxSilence = 2_500

/** Returns the milliseconds before the next attempt to connect, which grow with each attempt. */
const pause = (retries: number): number => Math.min(50 * 2 ** retries, 1_000)

/** The options of every client, including the clients for the nodes of a cluster. */
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
  // The timeout of the driver does not include the reply, and needs a timer for each command.
  commandOptions: { timeout: 0 },
  maintNotifications: 'disabled' as const,
})

interface Node {
  readonly host: string
  readonly port: number
}

/**
 * Adds the host name for TLS. The driver does not send it, but a Redis with several certificates needs it to choose
 * one.
 */
export const withServerName = ({ host, port }: Node): Node & { readonly servername?: string } =>
  isIP(host) === 0 ? { host, port, servername: host } : { host, port }

/** The timeout for the reply to a command, in milliseconds. */
export const responseLimit = 1_000
