import { createCluster } from '@redis/client'
import { clientOptions, withServerName } from './client-options.ts'
import type { ConnectionSettings, RedisConnection } from './connection.ts'
import { answerLimit, within } from './limits.ts'
import { scripts } from './scripts.ts'

/** Connections to the nodes of a cluster; the driver finds them, and knows which has a key. */
export const clusterConnection = (settings: ConnectionSettings): RedisConnection => {
  const { address, onError } = settings
  let state: 'new' | 'open' | 'closed' = 'new'
  let isRenewing = false
  const cluster = createCluster({
    rootNodes: address.nodes.map((node) => ({ socket: withServerName(node) })),
    // The nodes that these lead to.
    nodeAddressMap: (found) => {
      const colon = found.lastIndexOf(':')
      return withServerName({ host: found.slice(0, colon), port: Number(found.slice(colon + 1)) })
    },
    defaults: clientOptions(settings, () => state === 'open'),
    RESP: 2,
    scripts,
  })
    .on('error', onError)
    .on('node-error', onError)
  return {
    commands: cluster,
    async connect() {
      await cluster.connect()
      if (state === 'new') state = 'open'
      // Who was closed while the nodes were being found has found some since.
      else cluster.destroy()
    },
    isPartial: async () => false,
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
