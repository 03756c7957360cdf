import type { Client } from '../../../model/client.ts'
import { withQuery } from '../../../model/redirect-uri.ts'
import type { Configuration, Identity } from '../../server-context.ts'

// The example values of RFC 7636 Appendix B. These values are public, so use them only for manual tests.
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

/**
 * Returns a link that starts the authorization code flow of a client, and a shell command that redeems the code.
 * Returns null if the client cannot use this flow.
 */
export const tryIt = (
  client: Client,
  { issuer, settings }: Identity & Configuration,
): { readonly href: string; readonly curl: string } | null => {
  const redirectUri = client.defaultRedirectUri
  // A link and a shell command cannot create signatures or push authorization requests.
  const canTryManually =
    settings.pushedAuthorizationRequests !== 'required' &&
    settings.dpop !== 'required' &&
    settings.clientAuthentication.includes(client.isConfidential ? 'client_secret_basic' : 'none')
  const mayUseCode =
    canTryManually &&
    client.allowedResponseTypes.includes('code') &&
    client.allowedGrantTypes.includes('authorization_code')
  if (redirectUri === undefined || !mayUseCode || !client.isActive) return null
  const endpoint = `${issuer}${settings.oauthPrefix}`
  const href = withQuery(`${endpoint}/authorize`, {
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: redirectUri,
    state: 'try-it',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })
  const curl = [
    'curl',
    client.isConfidential ? `-u ${client.clientId}:SECRET` : `-d client_id=${client.clientId}`,
    '-d grant_type=authorization_code -d code=CODE',
    `--data-urlencode ${inShell(`redirect_uri=${redirectUri}`)}`,
    `-d code_verifier=${verifier}`,
    inShell(`${endpoint}/token`),
  ].join(' ')
  return { href, curl }
}

/** Quotes a text as one argument for a POSIX shell. */
export const inShell = (text: string): string =>
  /^[A-Za-z0-9_./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
