import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

// The range of public IPv6 addresses. Addresses outside of this range, such as ::a.b.c.d, have special purposes.
const globalUnicast = ipaddr.parseCIDR('2000::/3')

/**
 * Returns whether an address is on the public Internet. Returns false for private, local and reserved addresses
 * (RFC 6890), and for IPv6 blocks that embed IPv4 addresses, such as NAT64, 6to4 and Teredo.
 */
export const isPublic = (text: string): boolean => {
  if (isIP(text) === 0 || text.includes('%')) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || address.match(globalUnicast)
}
