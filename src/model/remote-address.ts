import { isIP } from 'node:net'
import { loopbackHosts } from './loopback.ts'

const longestAddress = 1_000
/** Characters of RFC 3986, and `%` only before two hexadecimal digits. */
const uriCharacters = /^(?:[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/
/** Below are the ports of mail, remote shells and the like, and nobody serves documents there. */
const firstFreePort = 1_024

export interface RemoteAddressRules {
  /** Whether it may be on a private network, and http on this very machine. For tests alone. */
  readonly allowPrivate: boolean
}

/**
 * Why the server does not fetch from an address that somebody else has named, or undefined where it does. It looks at
 * the text alone: where the host name leads is checked when it is known.
 */
export const remoteAddressProblem = (
  text: string,
  { allowPrivate }: RemoteAddressRules,
): string | undefined => {
  if (text.length > longestAddress) return `It is longer than ${longestAddress} characters.`
  if (text.includes('#')) return 'It must not contain a fragment (#).'
  if (!uriCharacters.test(text)) return 'It contains a character that is not allowed in a URL.'
  const [, scheme, authority = ''] = /^(https?):\/\/([^/?]+)/.exec(text) ?? []
  if (scheme === undefined || !URL.canParse(text)) return 'It must start with https://.'
  if (authority.includes('@')) return 'It must not contain a user.'
  const { hostname, port } = new URL(text)
  if (scheme === 'http' && !(allowPrivate && loopbackHosts.includes(hostname)))
    return 'It must start with https://.'
  if (port !== '' && Number(port) < firstFreePort)
    return `Its port must be 443, or ${firstFreePort} and above.`
  return allowPrivate ? undefined : hostProblem(hostname)
}

// The URL parser has written every spelling of an IPv4 address as four decimal numbers by now.
const hostProblem = (hostname: string): string | undefined => {
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0)
    return 'Its host must be a name, and no address of a machine.'
  // One without a dot is completed by the network that the server is in; one that ends with a dot is in no certificate.
  if (!/^[^.]+(?:\.[^.]+)+$/.test(hostname)) return 'Its host must be a full domain name.'
  return undefined
}
