import { limitTable } from './limit-table.ts'
import type { Settings } from './settings.ts'

/** The maximum number of failed logins for one account in an hour. OWASP ASVS 2.2.1. */
const maxGuessesPerHour = 100

/** Returns a warning for each setting whose value reduces security. */
export const looseningWarnings = (value: Settings): readonly string[] => {
  const found: string[] = []
  if (value.allowedResponseTypes.includes('token'))
    found.push(
      'The implicit grant is on, as specified: URLs contain access tokens (RFC 9700 §2.1.2). allowedResponseTypes (OAUTH2SERVER_ALLOWED_RESPONSE_TYPES) code turns it off.',
    )
  if (value.allowFrontChannelIdTokens)
    found.push(
      'ID tokens are sent through browsers: they may remain in the history, and a client that does not check the nonce accepts stolen ones (OpenID Connect Core §16.11). allowFrontChannelIdTokens (OAUTH2SERVER_ALLOW_FRONT_CHANNEL_ID_TOKENS) false turns it off.',
    )
  if (value.acceptQueryAccessToken)
    found.push(
      'Access tokens in the query are accepted, as specified: URLs are logged and passed on (RFC 9700 §4.3.2). acceptQueryAccessToken (OAUTH2SERVER_ACCEPT_QUERY_ACCESS_TOKEN) false turns it off.',
    )
  if (value.allowedGrantTypes.includes('password'))
    found.push(
      'The password grant is on: clients see passwords (RFC 9700 §2.4). allowedGrantTypes (OAUTH2SERVER_ALLOWED_GRANT_TYPES) without password turns it off.',
    )
  if (value.requirePkce === 'never')
    found.push(
      'PKCE is never required: stolen authorization codes can be redeemed (RFC 9700 §2.1.1).',
    )
  if (value.allowPrivateUseRedirectUris)
    found.push(
      'Private-use redirect URIs are allowed: another application can register the same URI scheme (RFC 8252 §8.1).',
    )
  if (value.sessionIpv4Prefix < 32 || value.sessionIpv6Prefix < 128)
    found.push('Sessions are bound to a network, not to one IP address.')
  if (value.dynamicRegistration === 'open')
    found.push(
      'Anyone can register a client: the consent page warns that the client is not verified.',
    )
  if (value.acceptUnsignedLeakReports)
    found.push(
      'Reports of leaked credentials need no signature: anyone who has a credential can revoke it.',
    )
  if (value.dangerouslyAllowPrivateAddresses)
    found.push(
      'The server sends requests to URLs of clients even if their IP addresses are private: anyone who registers a client can reach this network.',
    )
  if (value.dangerouslyIgnoreLimits)
    found.push(
      'Limits are ignored: anyone can guess passwords, secrets and tokens, and send requests, without limit.',
    )
  const { points, seconds } = { ...limitTable.guessesOfAccount, ...value.limits.guessesOfAccount }
  if (points * Math.ceil(3_600 / seconds) > maxGuessesPerHour)
    found.push(
      `The limit guessesOfAccount allows more than ${maxGuessesPerHour} password guesses per hour for one account (OWASP ASVS 2.2.1).`,
    )
  if (value.cacheType === 'memory')
    found.push(
      'Authorization codes, and new secrets that were not shown yet, are stored in memory: they are lost when the process ends, and other nodes cannot read them.',
    )
  return found
}
