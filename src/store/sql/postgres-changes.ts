import { setTimeout as delay } from 'node:timers/promises'
import { Client, type ClientConfig } from 'pg'
import { randomString, systemRandom } from '../../crypto/random.ts'
import type { LookupCache } from './lookup-cache.ts'

/**
 * The channel on which nodes tell each other what has changed: the number of a token's row, or everything. Each also asks
 * there whether it hears, which is no matter of the others.
 */
export const changesChannel = 'oauth2server_changes'
const everything = '*'
const question = '?'

/** Tells every node that listens, this one too. */
export const tellAll = `select pg_notify('${changesChannel}', '${everything}')`

/** Milliseconds. */
const pause = 1_000

/**
 * Listens on a connection of its own, and empties the cache for as long as it hears nothing there.
 * @param runElsewhere runs a statement on another connection
 */
export const listenForChanges = (
  config: ClientConfig,
  cache: LookupCache,
  runElsewhere: (sql: string, parameters: readonly unknown[]) => Promise<unknown>,
): { close(): Promise<void> } => {
  let isClosed = false
  let current: Client | undefined
  let next: NodeJS.Timeout | undefined

  const connect = async (): Promise<void> => {
    const client = new Client(config)
    current = client
    let awaited: string | undefined
    let isHearing = false
    const over = () => {
      if (current !== client) return
      current = undefined
      cache.isTold = false
      client.end().catch(() => undefined)
      if (!isClosed) next = setTimeout(connect, pause).unref()
    }
    client.on('error', over)
    client.on('end', over)
    client.on('notification', ({ payload = everything }) => {
      if (payload.startsWith(question)) hear(payload)
      else if (payload === everything) cache.forgetAll()
      else cache.forget(Number(payload))
    })
    const hear = (payload: string) => {
      if (payload !== awaited || current !== client) return
      awaited = undefined
      if (!isHearing) cache.isTold = true
      isHearing = true
    }
    // A connection that the network has swallowed brings no message, and no error either.
    const ask = async () => {
      awaited = `${question}${randomString(22, systemRandom)}`
      const sql = `select pg_notify('${changesChannel}', $1)`
      // First from elsewhere, while this connection rests: one that a pooler shares out hears itself at best.
      if (!isHearing) return void (await runElsewhere(sql, [awaited]))
      await client.query(sql, [awaited])
      if (awaited !== undefined) throw new Error('The connection does not hear.')
    }
    try {
      await client.connect()
      await client.query(`listen ${changesChannel}`)
      while (current === client) {
        await ask()
        await delay(pause, undefined, { ref: false })
      }
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
