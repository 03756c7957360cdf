import { isIP } from 'node:net'
import { loopbackHosts } from './loopback.ts'

const maxAddressLength = 1_000
/** Characters of RFC 3986, and `%` only before two hexadecimal digits. */
const uriCharacters = /^(?:[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/
/** Except for 443, lower ports are refused, because they belong to services such as mail and remote shells. */
const firstAllowedPort = 1_024

export interface RemoteAddressRules {
  /** Whether private networks, and http on the loopback interface, are allowed. For tests only. */
  readonly allowPrivate: boolean
}

/**
 * Returns the reason to refuse a URL that a client supplied; undefined if the server may fetch the URL. Checks only the
 * text of the URL. Before the server opens a connection, it checks the resolved IP address.
 */
export const remoteAddressProblem = (
  text: string,
  { allowPrivate }: RemoteAddressRules,
): string | undefined => {
  if (text.length > maxAddressLength) return `It is longer than ${maxAddressLength} characters.`
  if (text.includes('#')) return 'It must not contain a fragment (#).'
  if (!uriCharacters.test(text)) return 'It contains a character that is not allowed in a URL.'
  const [, scheme, authority = ''] = /^(https?):\/\/([^/?]+)/.exec(text) ?? []
  if (scheme === undefined || !URL.canParse(text)) return 'It must start with https://.'
  if (authority.includes('@')) return 'It must not contain a user.'
  const { hostname, port } = new URL(text)
  if (scheme === 'http' && !(allowPrivate && loopbackHosts.includes(hostname)))
    return 'It must start with https://.'
  if (port !== '' && Number(port) < firstAllowedPort)
    return `Its port must be 443, or ${firstAllowedPort} and above.`
  return allowPrivate ? undefined : hostProblem(hostname)
}

// The URL parser has already normalized every notation of an IPv4 address, such as 0x7f000001, to dotted decimal.
const hostProblem = (hostname: string): string | undefined => {
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0)
    return 'Its host must be a name, not an IP address.'
  // A name without a dot may belong to the local network. No certificate contains a name that ends with a dot.
  if (!/^[^.]+(?:\.[^.]+)+$/.test(hostname)) return 'Its host must be a full domain name.'
  return undefined
}
