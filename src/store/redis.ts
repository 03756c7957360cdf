import type { ConnectionOptions } from 'node:tls'
import {
  ClientClosedError,
  ClientOfflineError,
  DisconnectsClientError,
  ErrorReply,
  RootNodesUnavailableError,
} from '@redis/client'
import { checksumOf } from '../crypto/checksum.ts'
import { accepted, object, onlyMembers, timeout } from '../model/members.ts'
import { StoreUnavailable, StoreUnusable } from './contract/errors.ts'
import type { TransientsOpener } from './contract/transients.ts'
import { parseAddress } from './redis/address.ts'
import { responseLimit } from './redis/client-options.ts'
import { clusterConnection } from './redis/cluster.ts'
import type { Commands, ConnectionSettings, RedisConnection } from './redis/connection.ts'
import { singleConnection } from './redis/single.ts'
import { redisTransients } from './redis/transients.ts'
import { TimeoutError, withTimeout } from './timeout.ts'

/** The options of `redis(url)`. */
export interface RedisOptions {
  /**
   * Prefix of every key. Default: `oauth2server:` and a checksum of the issuer, so that several servers may share one
   * Redis.
   */
  readonly keyPrefix?: string
  /** Milliseconds to wait for a connection. Default 2,000. */
  readonly connectTimeout?: number
  /** Milliseconds to wait for the response to a command. Default 1,000. Timeouts accept 1 to 3,600,000. */
  readonly commandTimeout?: number
  /** TLS options for `rediss://`, for instance `{ ca }` for a certificate that your own authority signed. */
  readonly tls?: ConnectionOptions
}

const checkOptions = onlyMembers<RedisOptions>('redis()', {
  keyPrefix: accepted(
    'a string of at most 200 characters',
    (value) => typeof value === 'string' && value.length <= 200,
  ),
  connectTimeout: timeout,
  commandTimeout: timeout,
  tls: object,
})

/**
 * Stores short-lived values in Redis at `redis://user:password@host:port/database`, or over TLS at `rediss://`. Several
 * addresses, separated by commas, are nodes of one cluster.
 * @throws StoreUnusable for an address that cannot be parsed
 */
export const redis = (url: string, options: RedisOptions = {}): TransientsOpener => {
  checkOptions(options)
  const { keyPrefix, connectTimeout = 2_000, commandTimeout = responseLimit, tls = {} } = options
  const address = parseAddress(url)
  const { description, password } = address
  return {
    description,
    async open(issuer) {
      const prefix = keyPrefix ?? prefixOf(issuer)
      let lastError: Error | undefined
      const onError = (error: Error) => {
        if (!isConsequence(error)) lastError = error
      }
      const why = (error: unknown) => reasonOf(isConsequence(error) ? lastError : error, password)
      const settings = { address, connectTimeout, tls, onError }
      const failure = (what: string, error: unknown) => {
        const Kind = isRefusal(isConsequence(error) ? lastError : error)
          ? StoreUnusable
          : StoreUnavailable
        return new Kind(`Redis at ${description} cannot be ${what}: ${why(error)}. ${advice}`)
      }
      const connection = await connectToRedis(settings).catch((error: unknown) => {
        throw failure('reached', error)
      })
      const run = async <T>(command: (redis: Commands) => Promise<T>): Promise<T> => {
        const { commands } = connection
        try {
          return await withTimeout(commandTimeout, command(commands))
        } catch (error) {
          if (error instanceof TimeoutError || isDemoted(error)) {
            onError(error)
            connection.renew(commands)
          }
          // Omit the cause, because an error of the driver may contain the password.
          throw new StoreUnavailable(`Redis at ${description} cannot be used: ${why(error)}.`)
        }
      }
      const first: typeof run = (command) =>
        withTimeout(commandTimeout, command(connection.commands))
      // Write once now, so that a missing permission or a read-only replica fails at start-up.
      await redisTransients(first, prefix)
        .increment('start', 0, 0)
        .catch((error: unknown) => {
          connection.close()
          throw failure('used', error)
        })
      const close = async () => connection.close()
      return { ...redisTransients(run, prefix), close }
    },
  }
}

// A user of Redis may have permission only for keys that begin with `oauth2server:`.
const prefixOf = (issuer: string | undefined): string =>
  issuer === undefined ? 'oauth2server:' : `oauth2server:${checksumOf(issuer)}:`

const advice =
  'Check that Redis runs and that OAUTH2_CACHE_REDIS_URL is correct. Without Redis, OAUTH2_CACHE_TYPE=database stores short-lived values in the database.'

/**
 * Whether Redis refuses the command because of a wrong configuration. The errors in the pattern are temporary.
 */
const isRefusal = (error: unknown): boolean =>
  error instanceof ErrorReply &&
  !/^(?:LOADING|BUSY|OOM|MISCONF|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)\b/.test(error.message)

/** Whether the error only reports a missing connection. The reason is in an earlier error. */
const isConsequence = (error: unknown): boolean =>
  [ClientClosedError, ClientOfflineError, DisconnectsClientError, RootNodesUnavailableError].some(
    (kind) => error instanceof kind,
  )

/** Whether this Redis is a replica, for instance after a failover. A new connection may reach the new primary. */
const isDemoted = (error: unknown): error is Error =>
  error instanceof Error && /^(?:READONLY|MASTERDOWN)\b/.test(error.message)

const reasonOf = (error: unknown, password: string | undefined): string => {
  // The driver tries IPv6 and IPv4. The error of the first attempt is sufficient.
  const [one = error] = error instanceof AggregateError ? error.errors : []
  const text = one instanceof Error ? one.message || one.name : 'there is no connection'
  // An old Redis repeats an unknown command in its error message, and the command may contain the password.
  return (password === undefined ? text : text.replaceAll(password, '…')).replace(/\.$/, '')
}

/** Connects to a single Redis, or to a cluster if there are several addresses or if the Redis belongs to a cluster. */
const connectToRedis = async (settings: ConnectionSettings): Promise<RedisConnection> => {
  if (settings.address.nodes.length > 1) return connected(clusterConnection(settings), settings)
  const single = await connected(singleConnection(settings), settings)
  if (!(await single.isPartial())) return single
  single.close()
  return connected(clusterConnection(settings), settings)
}

const connected = async (
  connection: RedisConnection,
  { connectTimeout }: ConnectionSettings,
): Promise<RedisConnection> => {
  try {
    await withTimeout(connectTimeout, connection.connect())
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}
