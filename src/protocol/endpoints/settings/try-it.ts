import type { Client } from '../../../model/client.ts'
import { withQuery } from '../../../model/redirect-uri.ts'
import type { Configuration, Identity } from '../../server-context.ts'

// The example pair of RFC 7636 Appendix B: known to everybody, and good enough for a trial by hand.
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

/** How an owner tries a client by hand: a link that starts the flow, and what then redeems the code. */
export const tryIt = (
  client: Client,
  { issuer, settings }: Identity & Configuration,
): { readonly href: string; readonly curl: string } | null => {
  const redirectUri = client.defaultRedirectUri
  // What has to be signed is beyond a link and a line for the shell.
  const isByHand =
    settings.pushedAuthorizationRequests !== 'required' &&
    settings.dpop !== 'required' &&
    settings.clientAuthentication.includes(client.isConfidential ? 'client_secret_basic' : 'none')
  const mayUseCode =
    isByHand &&
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

/** A text as one word of a POSIX shell, whatever is in it. */
export const inShell = (text: string): string =>
  /^[A-Za-z0-9_./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
