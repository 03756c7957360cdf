import { Client, type ClientConfig } from 'pg'
import type { LookupCache } from './lookup-cache.ts'

/** The channel on which nodes tell each other what has changed: the number of a token's row, or everything. */
export const changesChannel = 'oauth2server_changes'
const everything = '*'

/** Tells every node that listens, this one too. */
export const tellAll = `select pg_notify('${changesChannel}', '${everything}')`

/** Milliseconds. */
const pause = 1_000

/** Listens on a connection of its own, and empties the cache for as long as it has none. */
export const listenForChanges = (
  config: ClientConfig,
  cache: LookupCache,
): { close(): Promise<void> } => {
  let isClosed = false
  let current: Client | undefined
  let next: NodeJS.Timeout | undefined

  const connect = async (): Promise<void> => {
    const client = new Client(config)
    current = client
    const over = () => {
      if (current !== client) return
      current = undefined
      cache.isTold = false
      clearInterval(heartbeat)
      client.end().catch(() => undefined)
      if (!isClosed) next = setTimeout(connect, pause).unref()
    }
    client.on('error', over)
    client.on('end', over)
    client.on('notification', ({ payload = everything }) => {
      if (payload === everything) cache.forgetAll()
      else cache.forget(Number(payload))
    })
    // A connection that the network has swallowed brings no message, and no error either.
    const heartbeat = setInterval(() => client.query('select 1').catch(over), pause).unref()
    try {
      await client.connect()
      await client.query(`listen ${changesChannel}`)
      if (current === client) cache.isTold = true
    } catch {
      over()
    }
  }

  void connect()
  return {
    async close() {
      isClosed = true
      clearTimeout(next)
      await current?.end()
    },
  }
}
