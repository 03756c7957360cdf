import type { LookupAddress } from 'node:dns'
import { lookup, Resolver } from 'node:dns/promises'

/** Milliseconds that a name server is first waited for, and how often each is asked. */
const patience = { timeout: 1_000, tries: 2 }

/** Finds all addresses of a host name; nobody waits for them once the signal is given. */
export type Lookup = (hostname: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>

/**
 * Asks name servers alone, those of the system by default. No thread waits for them, as it would for the system's own
 * look-up: a few names that nobody answers for would stop those of the whole process. And it ends when it is given up.
 */
export const nameServerLookup =
  (servers?: readonly string[]): Lookup =>
  async (hostname, signal) => {
    // One for each look-up, since it can only give up all that it was asked for.
    const resolver = new Resolver(patience)
    if (servers) resolver.setServers(servers)
    const giveUp = () => resolver.cancel()
    signal.addEventListener('abort', giveUp, { once: true })
    const [four, six] = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ])
    signal.removeEventListener('abort', giveUp)
    // Most names have one family alone, and some name servers fail at the question for the other.
    if (four.status === 'rejected' && six.status === 'rejected') throw four.reason
    return [...addressesIn(four, 4), ...addressesIn(six, 6)]
  }

const addressesIn = (
  found: PromiseSettledResult<readonly string[]>,
  family: 4 | 6,
): readonly LookupAddress[] =>
  found.status === 'fulfilled' ? found.value.map((address) => ({ address, family })) : []

/** Knows `localhost`, and all else that this machine alone calls by a name. It takes a thread until it has ended. */
export const systemLookup: Lookup = (hostname) => lookup(hostname, { all: true })
