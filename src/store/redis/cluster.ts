import { createCluster } from '@redis/client'
import { withTimeout } from '../timeout.ts'
import { answerLimit, clientOptions, withServerName } from './client-options.ts'
import type { ConnectionSettings, RedisConnection } from './connection.ts'
import { scripts } from './scripts.ts'

/** Milliseconds after which a node that refuses connections is looked for elsewhere: a replica may have taken over. */
const refreshAfter = 500

interface Node {
  readonly host: string
  readonly port: number
}

/** Connections to the nodes of a cluster; the driver finds them, and knows which has a key. */
export const clusterConnection = (settings: ConnectionSettings): RedisConnection => {
  const { address, connectTimeout, onError } = settings
  let state: 'new' | 'open' | 'closed' = 'new'
  let isRenewing = false
  const create = (nodes: readonly Node[]) => {
    let isConnected = false
    const cluster = createCluster({
      rootNodes: nodes.map((node) => ({ socket: withServerName(node) })),
      // The nodes that these lead to.
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
  const outdated = new Set<typeof cluster>()

  /** Finds the nodes again, by those that still answer. The connections that are in use go on until that is done. */
  const renew = async () => {
    const asked = cluster.masters.map(async ({ host, port, client }) => {
      await withTimeout(answerLimit, client?.ping() ?? Promise.reject())
      return { host, port }
    })
    const settled = await Promise.allSettled(asked)
    const answering = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const next = create(answering.length > 0 ? answering : address.nodes)
    const connecting = next.connect()
    try {
      await withTimeout(connectTimeout, connecting)
    } catch {
      // Nobody has taken over yet: the next silence tries again. What is found late is not kept either.
      const end = () => next.cluster.destroy()
      end()
      connecting.then(end, () => undefined)
      return
    }
    if (state === 'closed') return next.cluster.destroy()
    retire(cluster)
    cluster = next.cluster
  }

  // What is on its way to a node that answers is answered.
  const retire = (old: typeof cluster) => {
    outdated.add(old)
    const end = () => outdated.delete(old) && old.destroy()
    setTimeout(end, answerLimit).unref()
  }

  return {
    get commands() {
      return cluster
    },
    async connect() {
      await first.connect()
      if (state === 'new') state = 'open'
      // Who was closed while the nodes were being found has found some since.
      else cluster.destroy()
    },
    isPartial: async () => false,
    renew(met) {
      if (met !== cluster || isRenewing || state !== 'open') return
      isRenewing = true
      void renew().finally(() => {
        isRenewing = false
      })
    },
    close() {
      state = 'closed'
      for (const one of [cluster, ...outdated]) one.destroy()
      outdated.clear()
    },
  }
}
