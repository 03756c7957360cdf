import { isoTime } from '../model/iso-time.ts'
import type { Refusal } from '../model/refusal.ts'
import { overview, type refusedClient } from '../pages/shapes/administration.ts'
import type { Json } from '../pages/shapes/shape.ts'
import { clientsAmong } from '../records/clients/client-rows.ts'
import { resource } from './resource.ts'
import type { SettingsRequest } from './settings-request.ts'

/** The maximum number of listed clients. */
const maxClients = 10
/** The maximum number of listed reasons for each client. */
const maxReasons = 3

type RefusedClient = Json<typeof refusedClient>

/** Shows the overview of the administration. */
export const adminPage = resource({
  path: ({ adminPrefix }) => `${adminPrefix}/overview/`,
  operations: () => ({
    get: {
      operationId: 'getAdministration',
      summary: 'Lists the applications that were refused most, for administrators',
      answer: 'The applications.',
    },
  }),
  audience: 'admin',
  page: 'admin',
  view: overview,
  async read({ server }) {
    return { view: { refused: await refusedClients(server) } }
  },
})

/** Returns the clients whose requests were refused most often. Omits deleted and personal clients. */
const refusedClients = async ({
  refusals: all,
  records,
}: SettingsRequest['server']): Promise<readonly RefusedClient[]> => {
  const most = await all.mostRefused(maxClients)
  const ids = most.map(({ clientId }) => clientId)
  const [clients, refusals] = await Promise.all([clientsAmong(ids, records), all.listMany(ids)])
  return most.flatMap(({ clientId: client_id, count, at }, index) => {
    const client = clients.find(({ clientId }) => clientId === client_id)
    if (!client) return []
    const last_at = isoTime(at)
    const reasons = reasonsOf(refusals[index] ?? [])
    return [{ client_id, name: client.name, count, last_at, reasons }]
  })
}

const reasonsOf = (refusals: readonly Refusal[]): RefusedClient['reasons'] => {
  const counts = new Map<string, number>()
  for (const { description } of refusals)
    counts.set(description, (counts.get(description) ?? 0) + 1)
  return [...counts]
    .map(([description, count]) => ({ description, count }))
    .sort((a, b) => b.count - a.count)
    .slice(0, maxReasons)
}
