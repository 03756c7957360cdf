import { limitTable } from './limit-table.ts'
import type { Settings } from './settings.ts'

/** The maximum number of failed logins for one account in an hour. OWASP ASVS 2.2.1. */
const maxGuessesPerHour = 100

/** Returns warnings about values of settings that reduce security. */
export const looseningWarnings = (value: Settings): readonly string[] => {
  const found: string[] = []
  if (value.allowedResponseTypes.includes('token'))
    found.push(
      'The implicit grant is on, as the specification requires: URLs contain access tokens (RFC 9700 §2.1.2). To disable the grant, set allowedResponseTypes (OAUTH2SERVER_ALLOWED_RESPONSE_TYPES) to code.',
    )
  if (value.allowFrontChannelIdTokens)
    found.push(
      'ID tokens are sent through browsers: the browser history may contain them. A client that does not check the nonce accepts a stolen ID token (OpenID Connect Core §16.11). To disable this, set allowFrontChannelIdTokens (OAUTH2SERVER_ALLOW_FRONT_CHANNEL_ID_TOKENS) to false.',
    )
  if (value.acceptQueryAccessToken)
    found.push(
      'Access tokens in the query are accepted, as the specification requires: logs and the browser history may contain the URLs (RFC 9700 §4.3.2). To disable this, set acceptQueryAccessToken (OAUTH2SERVER_ACCEPT_QUERY_ACCESS_TOKEN) to false.',
    )
  if (value.allowedGrantTypes.includes('password'))
    found.push(
      'The password grant is on: clients see the passwords of users (RFC 9700 §2.4). To disable the grant, remove password from allowedGrantTypes (OAUTH2SERVER_ALLOWED_GRANT_TYPES).',
    )
  if (value.requirePkce === 'never')
    found.push(
      'PKCE is not required: an attacker may be able to redeem a stolen authorization code (RFC 9700 §2.1.1).',
    )
  if (value.allowPrivateUseRedirectUris)
    found.push(
      'Private-use redirect URIs are allowed: another application on the device can register the same URI scheme and receive authorization codes (RFC 8252 §8.1).',
    )
  if (value.sessionIpv4Prefix < 32 || value.sessionIpv6Prefix < 128)
    found.push(
      'Sessions are not bound to a single IP address: a stolen session cookie may work at other addresses.',
    )
  if (value.dynamicRegistration === 'open')
    found.push(
      'Anyone can register a client. The consent page warns users that the client is not verified.',
    )
  if (value.acceptUnsignedLeakReports)
    found.push(
      'Reports of leaked credentials need no signature: anyone who has a credential can revoke it.',
    )
  if (value.dangerouslyAllowPrivateAddresses)
    found.push(
      'The server sends requests to URLs of clients even at private IP addresses: anyone who registers a client can reach the private network of this server.',
    )
  if (value.dangerouslyIgnoreLimits)
    found.push(
      'Limits are ignored: anyone can send any number of requests, and can guess passwords, secrets and tokens.',
    )
  const { points, seconds } = { ...limitTable.guessesOfAccount, ...value.limits.guessesOfAccount }
  if (points * Math.ceil(3_600 / seconds) > maxGuessesPerHour)
    found.push(
      `The limit guessesOfAccount allows more than ${maxGuessesPerHour} password guesses per hour for one account (OWASP ASVS 2.2.1).`,
    )
  if (value.cacheType === 'memory')
    found.push(
      'Authorization codes, and new secrets that were not displayed yet, are stored in memory. They are lost when the process ends, and other nodes cannot read them.',
    )
  return found
}
