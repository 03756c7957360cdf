import { createCluster } from '@redis/client'
import { withTimeout } from '../timeout.ts'
import { clientOptions, responseLimit, withServerName } from './client-options.ts'
import type { ConnectionSettings, RedisConnection } from './connection.ts'
import { scripts } from './scripts.ts'

/**
 * If connections are refused for this number of milliseconds, the nodes are discovered again, because a replica may
 * have taken over.
 */
const refreshAfter = 500

interface Node {
  readonly host: string
  readonly port: number
}

/** Connects to the nodes of a cluster. The driver discovers all nodes, and selects the node of each key. */
export const clusterConnection = (settings: ConnectionSettings): RedisConnection => {
  const { address, connectTimeout, onError } = settings
  let state: 'new' | 'open' | 'closed' = 'new'
  let isRenewing = false
  const create = (nodes: readonly Node[]) => {
    let isConnected = false
    const cluster = createCluster({
      rootNodes: nodes.map((node) => ({ socket: withServerName(node) })),
      // The driver calls this function with the address of each node that it discovered.
      nodeAddressMap: (found) => {
        const colon = found.lastIndexOf(':')
        return withServerName({ host: found.slice(0, colon), port: Number(found.slice(colon + 1)) })
      },
      defaults: clientOptions(settings, () => isConnected),
      topologyRefreshOnReconnectionAttemptStrategy: refreshAfter,
      RESP: 2,
      scripts,
    })
      .on('error', onError)
      .on('node-error', onError)
    return {
      cluster,
      async connect() {
        await cluster.connect()
        isConnected = true
      },
    }
  }
  const first = create(address.nodes)
  let { cluster } = first
  const retired = new Set<typeof cluster>()

  /**
   * Discovers the nodes again, beginning with the nodes that still respond. Commands use the current connections in the
   * meantime.
   */
  const renew = async () => {
    const pings = cluster.masters.map(async ({ host, port, client }) => {
      await withTimeout(responseLimit, client?.ping() ?? Promise.reject())
      return { host, port }
    })
    const settled = await Promise.allSettled(pings)
    const answering = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const next = create(answering.length > 0 ? answering : address.nodes)
    const connecting = next.connect()
    try {
      await withTimeout(connectTimeout, connecting)
    } catch {
      // The new connection did not open in time, for instance because no replica has taken over yet. The next timeout
      // of a command calls `renew` again. Close the new connection, even if it opens later.
      const end = () => next.cluster.destroy()
      end()
      connecting.then(end, () => undefined)
      return
    }
    if (state === 'closed') return next.cluster.destroy()
    retire(cluster)
    cluster = next.cluster
  }

  // Waits for commands that may still get a reply, and then closes the connections.
  const retire = (old: typeof cluster) => {
    retired.add(old)
    const end = () => retired.delete(old) && old.destroy()
    setTimeout(end, responseLimit).unref()
  }

  return {
    get commands() {
      return cluster
    },
    async connect() {
      await first.connect()
      if (state === 'new') state = 'open'
      // `close()` was called while the driver discovered the nodes, so close the connections that it has opened since.
      else cluster.destroy()
    },
    isPartial: async () => false,
    renew(used) {
      if (used !== cluster || isRenewing || state !== 'open') return
      isRenewing = true
      void renew().finally(() => {
        isRenewing = false
      })
    },
    close() {
      state = 'closed'
      for (const one of [cluster, ...retired]) one.destroy()
      retired.clear()
    },
  }
}
