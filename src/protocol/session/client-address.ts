import { BlockList, isIPv4, isIPv6 } from 'node:net'

const kindOf = (address: string): 'ipv4' | 'ipv6' => (isIPv4(address) ? 'ipv4' : 'ipv6')

const networks = (cidrs: readonly string[]): BlockList => {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const [address = '', prefix] = cidr.split('/')
    const kind = kindOf(address)
    list.addSubnet(
      address,
      prefix === undefined ? (kind === 'ipv4' ? 32 : 128) : Number(prefix),
      kind,
    )
  }
  return list
}

const loopback = networks(['127.0.0.0/8', '::1/128'])

/** Normalizes an IP address: IPv4-mapped addresses become IPv4, and every loopback address becomes 127.0.0.1. */
const normalized = (address: string): string => {
  const plain = address.replace(/^::ffff:(\d+\.)/i, '$1').toLowerCase()
  if (!isIPv4(plain) && !isIPv6(plain)) return ''
  return loopback.check(plain, kindOf(plain)) ? '127.0.0.1' : plain
}

// Some proxies append the port of the peer, and write an IPv6 address in brackets.
const withoutPort = (hop: string): string => {
  const [, inBrackets, ipv4] = /^(?:\[([^\]]*)\](?::\d+)?|(\d+(?:\.\d+){3}):\d+)$/.exec(hop) ?? []
  return inBrackets ?? ipv4 ?? hop
}

// The longest entry of `X-Forwarded-For` is an IPv6 address with a zone, in brackets and with a port.
const maxHopLength = 100

/** The entry of `trustedProxies` for a peer on a Unix socket, which has no IP address. */
export const unixPeer = 'unix'

/** Returns a function that determines the IP address of a client behind trusted proxies; empty for an unknown address. */
export const clientAddress = (trustedProxies: readonly string[]) => {
  const trusted = networks(trustedProxies.filter((proxy) => proxy !== unixPeer))
  const trustsUnixPeer = trustedProxies.includes(unixPeer)
  // `::1` is normalized to 127.0.0.1, so a setting that trusts `::1` must also trust 127.0.0.1.
  if (trusted.check('::1', 'ipv6')) trusted.addSubnet('127.0.0.0', 8, 'ipv4')
  return (peer: string | undefined, forwardedFor: string | null): string => {
    let address = normalized(peer ?? '')
    if (trustedProxies.length === 0 || forwardedFor === null) return address
    // Read the entries from the right. Each proxy appends the address of its peer, and an untrusted peer may have
    // forged all entries before that address.
    const isTrusted = () =>
      address === '' ? trustsUnixPeer : trusted.check(address, kindOf(address))
    for (let end = forwardedFor.length; end >= 0 && isTrusted(); ) {
      const comma = end === 0 ? -1 : forwardedFor.lastIndexOf(',', end - 1)
      const hop = forwardedFor.slice(comma + 1, end).trim()
      const next = hop.length > maxHopLength ? '' : normalized(withoutPort(hop))
      if (next === '') break
      address = next
      end = comma
    }
    return address
  }
}

/** Returns whether two IP addresses are in the same network. @param prefixes the number of leading bits to compare */
export const isSameNetwork = (
  a: string,
  b: string,
  prefixes: { readonly ipv4: number; readonly ipv6: number },
): boolean => {
  if (a === b) return true
  if (a === '' || b === '') return false
  const kind = kindOf(a)
  const prefix = prefixes[kind]
  if (prefix === 0 && prefixes[kindOf(b)] === 0) return true
  if (kind !== kindOf(b)) return false
  return networks([`${a}/${prefix}`]).check(b, kind)
}
