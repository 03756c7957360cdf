import type { Settings } from '../../index.ts'
import { type Examination, setting } from './examination.ts'
import { type Finding, ok, skip, warn } from './finding.ts'
import type { Metadata } from './metadata.ts'

/** A security recommendation, mostly of RFC 9700, that a server can ignore. */
interface Practice {
  readonly check: string
  readonly advice: string
  /** Returns whether the server ignores the recommendation, according to its metadata. */
  readonly inMetadata?: (metadata: Metadata) => boolean
  /** Returns whether the server ignores the recommendation, according to its settings. */
  readonly inSettings?: (settings: Settings) => boolean
}

const lists = (metadata: Metadata, member: string, value: string): boolean => {
  const listed = metadata[member]
  return Array.isArray(listed) && listed.includes(value)
}

const practices: readonly Practice[] = [
  {
    check: 'implicit',
    advice: `The implicit grant is on: URLs contain access tokens (RFC 9700 §2.1.2). Set ${setting('allowedResponseTypes', 'code')}`,
    inMetadata: (metadata) => lists(metadata, 'response_types_supported', 'token'),
  },
  {
    check: 'password-grant',
    advice: `The password grant is on: clients see passwords (RFC 9700 §2.4). Remove password from the grant types, for instance: ${setting('allowedGrantTypes', 'authorization_code,refresh_token,client_credentials')}`,
    inMetadata: (metadata) => lists(metadata, 'grant_types_supported', 'password'),
  },
  {
    check: 'token-in-query',
    advice: `Access tokens are accepted in the query, which is often logged (RFC 9700 §4.3.2). Set ${setting('acceptQueryAccessToken', 'false')}`,
    inMetadata: (metadata) => lists(metadata, 'bearer_methods_supported', 'query'),
  },
  {
    check: 'pkce',
    advice: `PKCE is not required of every client: a stolen or injected code can be redeemed (RFC 9700 §2.1.1). Set ${setting('requirePkce', 'always')}`,
    inSettings: ({ requirePkce }) => requirePkce !== 'always',
  },
  {
    check: 'pkce-method',
    advice:
      'The metadata does not announce S256, or it announces plain, which protects nothing (RFC 9700 §2.1.1).',
    inMetadata: (metadata) =>
      !lists(metadata, 'code_challenge_methods_supported', 'S256') ||
      lists(metadata, 'code_challenge_methods_supported', 'plain'),
  },
  {
    check: 'issuer-in-response',
    advice:
      'Authorization responses do not contain the issuer: clients of several servers are open to mix-up attacks (RFC 9700 §4.4.2).',
    inMetadata: (metadata) => metadata.authorization_response_iss_parameter_supported !== true,
  },
  {
    check: 'sender-constrained',
    advice: `Tokens cannot be bound to a key of their client: anyone can use a stolen token (RFC 9700 §2.2.1). Set ${setting('dpop', 'on')}`,
    inMetadata: (metadata) => metadata.dpop_signing_alg_values_supported === undefined,
  },
  {
    check: 'audience',
    advice: `Tokens cannot be restricted to one resource: a resource can use a received token at the other resources (RFC 9700 §2.3). Set ${setting('resourceIndicators', 'true')}`,
    inSettings: ({ resourceIndicators }) => !resourceIndicators,
  },
  {
    check: 'client-keys',
    advice: `Clients cannot authenticate with a key, only with a shared secret (RFC 9700 §2.5). Add private_key_jwt: ${setting('clientAuthentication', '…,private_key_jwt')}`,
    inMetadata: (metadata) =>
      !lists(metadata, 'token_endpoint_auth_methods_supported', 'private_key_jwt'),
  },
  {
    check: 'private-use-redirects',
    advice: `Private-use redirect URIs are allowed: another application can claim such a URI (RFC 8252 §8.1). Set ${setting('allowPrivateUseRedirectUris', 'false')}`,
    inSettings: ({ allowPrivateUseRedirectUris }) => allowPrivateUseRedirectUris,
  },
  {
    check: 'private-addresses',
    advice: `The server sends requests to URLs of clients even at private IP addresses. Set ${setting('dangerouslyAllowPrivateAddresses', 'false')}`,
    inSettings: ({ dangerouslyAllowPrivateAddresses }) => dangerouslyAllowPrivateAddresses,
  },
]

/** Compares the metadata and the settings with each recommendation. Skips recommendations about unknown settings. */
export const bestPractices = ({ metadata, settings }: Examination): readonly Finding[] =>
  practices.flatMap(({ check, advice, inMetadata, inSettings }) => {
    const seen = inMetadata?.(metadata) ?? (settings && inSettings?.(settings))
    if (seen === undefined) return []
    return [seen ? warn(check, advice) : ok(check)]
  })

const hidden =
  'all users seem to have the IP address of the proxy, so limits count all users as one, and the wrong passwords of an attacker can lock out the owner of an account'

/** Checks the settings that depend on the deployment. */
export const deployment = ({ issuer, settings }: Examination): readonly Finding[] => {
  if (!settings || new URL(issuer).protocol !== 'https:') return []
  return settings.trustedProxies.length > 0
    ? [ok('trusted-proxies')]
    : [
        warn(
          'trusted-proxies',
          `No proxy is trusted. If a proxy terminates https, set ${setting('trustedProxies', '…')}: otherwise, ${hidden}.`,
        ),
      ]
}

const isLoopback = (address: string): boolean => /^(?:127\.|::1$)/.test(address)

/** Checks the IP address that the server recorded for the login of this program. */
export const seenAddress = (seen: string, reachedAt: string): readonly Finding[] => {
  // Skip the check if the server is on this machine, for instance in development. The proxy and this program then have
  // the same IP address.
  if (seen === '' || isLoopback(reachedAt)) return []
  const advised = `set ${setting('trustedProxies', '…')}`
  // A request to a network address never comes from a loopback address, so a proxy forwarded the request.
  if (isLoopback(seen))
    return [
      warn(
        'trusted-proxies',
        `The server received this login from ${seen}, so a proxy on the server's machine forwards the requests, and ${hidden}. To prevent this, ${advised}, and let the proxy send X-Forwarded-For.`,
      ),
    ]
  return [
    skip(
      'trusted-proxies',
      `the server received this login from ${seen}, and this program cannot find out who has that IP address. If this IP address belongs to a proxy, ${advised}: otherwise, ${hidden}.`,
    ),
  ]
}
