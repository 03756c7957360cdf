import type { LookupAddress } from 'node:dns'
import { lookup, Resolver } from 'node:dns/promises'

/** The initial timeout of a name server in milliseconds, and the number of tries. */
const patience = { timeout: 1_000, tries: 2 }

/** Finds all addresses of a host name. The signal aborts the look-up. */
export type Lookup = (hostname: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>

/**
 * Queries name servers, by default those of the system. Unlike the look-up of the system, this look-up can be aborted
 * and does not block a thread. A few unresponsive name servers therefore cannot block all look-ups of the process.
 */
export const nameServerLookup =
  (servers?: readonly string[]): Lookup =>
  async (hostname, signal) => {
    // Create one resolver per look-up, since `cancel` aborts all queries of a resolver.
    const resolver = new Resolver(patience)
    if (servers) resolver.setServers(servers)
    const giveUp = () => resolver.cancel()
    signal.addEventListener('abort', giveUp, { once: true })
    const [four, six] = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ])
    signal.removeEventListener('abort', giveUp)
    // Many names have addresses of only one family, and some name servers fail for the other one.
    if (four.status === 'rejected' && six.status === 'rejected') throw four.reason
    return [...addressesIn(four, 4), ...addressesIn(six, 6)]
  }

const addressesIn = (
  found: PromiseSettledResult<readonly string[]>,
  family: 4 | 6,
): readonly LookupAddress[] =>
  found.status === 'fulfilled' ? found.value.map((address) => ({ address, family })) : []

/**
 * Looks up names through the operating system, which also resolves local names such as `localhost`. Each look-up blocks
 * a thread of the thread pool until the look-up ends, and ignores the signal.
 */
export const systemLookup: Lookup = (hostname) => lookup(hostname, { all: true })
