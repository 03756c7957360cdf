import { createClient } from '@redis/client'
import { withTimeout } from '../timeout.ts'
import { clientOptions, responseLimit, withServerName } from './client-options.ts'
import type { ConnectionSettings, RedisConnection } from './connection.ts'
import { scripts } from './scripts.ts'

/** Connects to a single Redis. */
export const singleConnection = (settings: ConnectionSettings): RedisConnection => {
  const { address, onError } = settings
  let state: 'new' | 'open' | 'closed' = 'new'
  const { socket, ...options } = clientOptions(settings, () => state === 'open')
  const create = () =>
    createClient({
      ...options,
      socket: { ...socket, ...address.nodes.map(withServerName)[0] },
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
      if (state === 'new') state = 'open'
    },
    async isPartial() {
      // The reply to HELLO is a list of alternating names and values. Without a valid reply, for instance from a proxy,
      // treat Redis as a single node.
      const reply = withTimeout(responseLimit, client.sendCommand<unknown[]>(['HELLO']))
      const hello = await reply.catch((): unknown[] => [])
      return hello[hello.indexOf('mode') + 1] === 'cluster'
    },
    renew(used) {
      if (client !== used || state !== 'open') return
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
