import type { ConnectionOptions } from 'node:tls'
import {
  ClientClosedError,
  ClientOfflineError,
  DisconnectsClientError,
  ErrorReply,
  RootNodesUnavailableError,
} from '@redis/client'
import { StoreUnavailable, StoreUnusable } from './contract/errors.ts'
import type { TransientsOpener } from './contract/transients.ts'
import { parseAddress } from './redis/address.ts'
import { answerLimit } from './redis/client-options.ts'
import { clusterConnection } from './redis/cluster.ts'
import type { Commands, ConnectionSettings, RedisConnection } from './redis/connection.ts'
import { singleConnection } from './redis/single.ts'
import { redisTransients } from './redis/transients.ts'
import { TimeoutError, withTimeout } from './timeout.ts'

export interface RedisOptions {
  /** What every key begins with: servers that share one Redis need different ones. Default `oauth2server:`. */
  readonly keyPrefix?: string
  /** Milliseconds to wait for a connection. Default 2,000. */
  readonly connectTimeout?: number
  /** Milliseconds to wait for the answer to a command. Default 1,000. */
  readonly commandTimeout?: number
  /** For `rediss://`, for instance `{ ca }` where the certificate is signed by an authority of your own. */
  readonly tls?: ConnectionOptions
}

/**
 * Short-lived values in Redis at `redis://user:password@host:port/database`, or by `rediss://` over TLS.
 * Several addresses, separated by commas, are nodes of one cluster.
 * @throws StoreUnusable for an address that cannot be read
 */
export const redis = (
  url: string,
  {
    keyPrefix = 'oauth2server:',
    connectTimeout = 2_000,
    commandTimeout = answerLimit,
    tls = {},
  }: RedisOptions = {},
): TransientsOpener => {
  const address = parseAddress(url)
  const { description, password } = address
  return {
    description,
    async open() {
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
      const connection = await openConnection(settings).catch((error: unknown) => {
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
          // Without a cause: an error of the driver may hold the password.
          throw new StoreUnavailable(`Redis at ${description} cannot be used: ${why(error)}.`)
        }
      }
      const first: typeof run = (command) =>
        withTimeout(commandTimeout, command(connection.commands))
      // Write once now, so that a missing permission or a read-only replica fails at start-up.
      await redisTransients(first, keyPrefix)
        .increment('start', 0, 0)
        .catch((error: unknown) => {
          connection.close()
          throw failure('used', error)
        })
      const close = async () => connection.close()
      return { ...redisTransients(run, keyPrefix), close }
    },
  }
}

const advice =
  'Check that it runs, and OAUTH2_CACHE_REDIS_URL. Without Redis, OAUTH2_CACHE_TYPE=database keeps short-lived values in the database.'

/** It answered, and will not do it: who is wrong is who set it up. The others pass by themselves. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ErrorReply &&
  !/^(?:LOADING|BUSY|OOM|MISCONF|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)\b/.test(error.message)

/** Says only that there is no connection; the reason came before. */
const isConsequence = (error: unknown): boolean =>
  [ClientClosedError, ClientOfflineError, DisconnectsClientError, RootNodesUnavailableError].some(
    (kind) => error instanceof kind,
  )

/** Another Redis has become the primary: the name leads to it when it is looked up again. */
const isDemoted = (error: unknown): error is Error =>
  error instanceof Error && /^(?:READONLY|MASTERDOWN)\b/.test(error.message)

const reasonOf = (error: unknown, password: string | undefined): string => {
  // Of several tries to connect, by IPv6 and by IPv4, the first says enough.
  const [one = error] = error instanceof AggregateError ? error.errors : []
  const text = one instanceof Error ? one.message || one.name : 'there is no connection'
  // An old Redis repeats what it did not understand, and that may be how we log in.
  return (password === undefined ? text : text.replaceAll(password, '…')).replace(/\.$/, '')
}

/** Connects to one Redis, or to a cluster where an address leads to one. Rejects where that fails. */
const openConnection = async (settings: ConnectionSettings): Promise<RedisConnection> => {
  if (settings.address.nodes.length > 1) return opened(clusterConnection(settings), settings)
  const single = await opened(singleConnection(settings), settings)
  if (!(await single.isPartial())) return single
  single.close()
  return opened(clusterConnection(settings), settings)
}

const opened = async (
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
