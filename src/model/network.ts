import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** What counts as one address: whoever has a network of IPv6 has more of them than could be counted. */
export const networkOf = (address: string): string =>
  isIPv6(address)
    ? // An address of the own link names the interface behind a `%`, by whatever name that has.
      ipaddr.IPv6.parse(address.replace(/%.*$/, ''))
        .parts.slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')
    : address
