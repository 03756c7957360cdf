/** The numbers of refused requests of a client by day. */
export interface RefusedClient {
  readonly clientId: string
  /** The time of the latest refusal, in milliseconds since the epoch. */
  readonly at: number
  /** The number of refusals of each day. The key of a day is the number of days since the epoch. */
  readonly days: Readonly<Record<number, number>>
}

/** The maximum number of clients in the overview. The overview contains the clients with the latest refusals. */
const maxClients = 100
const dayLength = 86_400_000

const dayOf = (at: number): number => Math.floor(at / dayLength)

/**
 * Adds new refusals to the overview. Drops days before `earliest`, and retains only the clients with the latest
 * refusals.
 */
export const withRefusals = (
  overview: readonly RefusedClient[],
  added: readonly (Pick<RefusedClient, 'clientId' | 'at'> & { readonly count: number })[],
  earliest: number,
): readonly RefusedClient[] => {
  const all = new Map(overview.map((client) => [client.clientId, client]))
  for (const { clientId, at, count } of added) {
    const days = all.get(clientId)?.days ?? {}
    const day = dayOf(at)
    all.set(clientId, { clientId, at, days: { ...days, [day]: (days[day] ?? 0) + count } })
  }
  return [...all.values()]
    .filter(({ at }) => at > earliest)
    .map((client) => ({ ...client, days: recentDays(client, earliest) }))
    .sort((a, b) => b.at - a.at)
    .slice(0, maxClients)
}

/** Returns the number of refusals since the day of `earliest`. */
export const refusalsSince = (client: RefusedClient, earliest: number): number =>
  Object.values(recentDays(client, earliest)).reduce((sum, count) => sum + count, 0)

const recentDays = ({ days }: RefusedClient, earliest: number): RefusedClient['days'] =>
  Object.fromEntries(Object.entries(days).filter(([day]) => Number(day) >= dayOf(earliest)))
