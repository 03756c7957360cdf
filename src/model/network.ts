import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The first of the eight groups of an IPv6 address. */
const groups = (address: string, count: number): string =>
  // An address of the own link names the interface behind a `%`, by whatever name that has.
  ipaddr.IPv6.parse(address.replace(/%.*$/, ''))
    .parts.slice(0, count)
    .map((part) => part.toString(16))
    .join(':')

/** Returns what counts as one address. A host usually has a whole IPv6 network, so its addresses count as one. */
export const networkOf = (address: string): string =>
  isIPv6(address) ? groups(address, 4) : address

/** The network of one site, /24 or /48: somebody who has an address there may well have the others. */
export const siteNetworkOf = (address: string): string => {
  if (isIPv6(address)) return `${groups(address, 3)}::/48`
  return isIPv4(address) ? address.replace(/\d+$/, '0/24') : address
}
