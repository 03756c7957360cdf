import type { Refusal } from '../model/refusal.ts'
import { addresses } from '../pages/addresses.ts'
import type { RefusedClientItem } from '../pages/models/admin.ts'
import { clientsAmong } from '../records/clients/client-rows.ts'
import type { SettingsRequest } from './settings-request.ts'

/** The maximum number of listed clients. */
const maxClients = 10
/** The maximum number of listed reasons for each client. */
const maxReasons = 3

/** Returns the clients whose requests were refused most often, for administrators. Omits deleted and personal clients. */
export const refusedClients = async ({
  server,
}: SettingsRequest): Promise<readonly RefusedClientItem[]> => {
  const most = await server.refusals.mostRefused(maxClients)
  const ids = most.map(({ clientId }) => clientId)
  const [clients, refusals] = await Promise.all([
    clientsAmong(ids, server.records),
    server.refusals.listMany(ids),
  ])
  return most.flatMap(({ clientId, count, at }, index) => {
    const client = clients.find((one) => one.clientId === clientId)
    if (!client) return []
    const href = addresses(server.ui.links).adminApplication(clientId)
    const reasons = reasonsOf(refusals[index] ?? [])
    return [{ clientId, name: client.name, href, count, at, reasons }]
  })
}

const reasonsOf = (refusals: readonly Refusal[]): RefusedClientItem['reasons'] => {
  const counts = new Map<string, number>()
  for (const { description } of refusals)
    counts.set(description, (counts.get(description) ?? 0) + 1)
  return [...counts]
    .map(([description, count]) => ({ description, count }))
    .sort((a, b) => b.count - a.count)
    .slice(0, maxReasons)
}
