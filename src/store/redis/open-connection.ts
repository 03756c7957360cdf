import { withTimeout } from '../timeout.ts'
import { clusterConnection } from './cluster.ts'
import type { ConnectionSettings, RedisConnection } from './connection.ts'
import { singleConnection } from './single.ts'

/** Connects to one Redis, or to a cluster where an address leads to one. Rejects where that fails. */
export const openConnection = async (settings: ConnectionSettings): Promise<RedisConnection> => {
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
