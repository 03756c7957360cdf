import type { LookupAddress } from 'node:dns'
import { lookup, Resolver } from 'node:dns/promises'

/** The initial timeout of a name server in milliseconds, and the number of attempts. */
const resolverOptions = { timeout: 1_000, tries: 2 }

/** Finds all addresses of a host name. A look-up that supports the signal can be aborted. */
export type Lookup = (hostname: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>

/**
 * Queries name servers, by default the name servers of the system. Unlike `systemLookup`, these queries can be aborted
 * and do not block a thread, so that unresponsive name servers cannot block all look-ups of the process.
 */
export const nameServerLookup =
  (servers?: readonly string[]): Lookup =>
  async (hostname, signal) => {
    // Create one resolver per look-up, because `cancel` aborts all queries of a resolver.
    const resolver = new Resolver(resolverOptions)
    if (servers) resolver.setServers(servers)
    const cancel = () => resolver.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    const [four, six] = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ])
    signal.removeEventListener('abort', cancel)
    // Ignore an error for one address family, because some name servers fail if a name has no address of that family.
    if (four.status === 'rejected' && six.status === 'rejected') throw four.reason
    return [...addressesIn(four, 4), ...addressesIn(six, 6)]
  }

const addressesIn = (
  found: PromiseSettledResult<readonly string[]>,
  family: 4 | 6,
): readonly LookupAddress[] =>
  found.status === 'fulfilled' ? found.value.map((address) => ({ address, family })) : []

/**
 * Looks up names through the operating system, which also resolves local names such as `localhost`. A look-up ignores
 * the signal and blocks a thread of the thread pool.
 */
export const systemLookup: Lookup = (hostname) => lookup(hostname, { all: true })
