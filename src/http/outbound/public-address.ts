import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

// All that is assigned to the public IPv6 Internet: what lies outside, such as ::a.b.c.d, stands for something else.
const globalUnicast = ipaddr.parseCIDR('2000::/3')

/**
 * Whether an address belongs to a machine on the public Internet: to no private network, not to this machine, and to
 * none of the blocks that carry an IPv4 address inside, such as those of NAT64, 6to4 and Teredo. RFC 6890.
 */
export const isPublic = (text: string): boolean => {
  if (isIP(text) === 0 || text.includes('%')) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || address.match(globalUnicast)
}
