import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Returns the first `count` of the eight groups of an IPv6 address. */
const groups = (address: string, count: number): string =>
  // Remove the zone of a link-local address, such as `%eth0`, because `parse` does not accept every zone.
  ipaddr.IPv6.parse(address.replace(/%.*/s, ''))
    .parts.slice(0, count)
    .map((part) => part.toString(16))
    .join(':')

/** Returns the /64 network of an IPv6 address, because a host usually has a whole /64. Returns other texts unchanged. */
export const networkOf = (address: string): string =>
  isIPv6(address) ? groups(address, 4) : address

/** Returns the /24 (IPv4) or /48 (IPv6) network, because a single person can often use all addresses of this network. */
export const siteNetworkOf = (address: string): string => {
  if (isIPv6(address)) return `${groups(address, 3)}::/48`
  return isIPv4(address) ? `${address.slice(0, address.lastIndexOf('.'))}.0/24` : address
}
