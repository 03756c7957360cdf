import type { Client } from '../model/client.ts'
import { withQuery } from '../model/redirect-uri.ts'
import type { DeveloperDesk } from '../pages/parts/developer-desk.ts'
import { advertisedAddresses } from '../protocol/endpoints/token/supported.ts'
import type { ServerContext } from '../protocol/server-context.ts'
import {
  curlSnippet,
  javaScriptSnippet,
  pythonSnippet,
  type TokenRequestSample,
} from './snippets.ts'

// The example values of RFC 7636 Appendix B. These values are public, so use them only for manual tests.
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

/**
 * Returns the URLs of the endpoints that a client needs, with their names in the metadata of the server (RFC 8414 §2).
 */
export const endpointsOf = (server: ServerContext): DeveloperDesk['endpoints'] => {
  const { origin, pathname } = new URL(server.issuer)
  const path = `/.well-known/oauth-authorization-server${pathname.replace(/\/$/, '')}`
  const known = Object.entries(advertisedAddresses(server)).filter(([name]) => shown.includes(name))
  return [
    { name: 'issuer', url: server.issuer },
    { name: 'metadata', url: `${origin}${path}` },
    ...known.map(([name, url]) => ({ name, url: String(url) })),
  ]
}

const shown = [
  'authorization_endpoint',
  'token_endpoint',
  'device_authorization_endpoint',
  'revocation_endpoint',
]

/**
 * Returns a link that starts the authorization code flow of a client, and code examples that send its token request.
 * Returns null if the client is inactive, or if a short code example cannot send the request.
 * @param secret the client secret, if the page shows it
 */
export const tryIt = (
  client: Client,
  server: ServerContext,
  secret: string | null,
): DeveloperDesk['tryIt'] => {
  const { issuer, settings } = server
  const endpoint = `${issuer}${settings.oauthPrefix}`
  // A link and a short code example cannot create signatures or push authorization requests.
  const canTryManually =
    settings.dpop !== 'required' &&
    (client.tokenEndpointAuthMethod ?? 'client_secret_basic') !== 'private_key_jwt' &&
    settings.clientAuthentication.includes(client.isConfidential ? 'client_secret_basic' : 'none')
  if (!canTryManually || !client.isActive) return null
  const sampleOf = (fields: Readonly<Record<string, string>>) => {
    const sample: TokenRequestSample = {
      url: `${endpoint}/token`,
      clientId: client.clientId,
      secret: client.isConfidential ? (secret ?? 'SECRET') : null,
      fields,
    }
    const snippets = [
      { name: 'curl', code: curlSnippet(sample) },
      { name: 'JavaScript', code: javaScriptSnippet(sample) },
      { name: 'Python', code: pythonSnippet(sample) },
    ]
    const needsSecret = client.isConfidential && secret === null
    return { needsSecret, snippets }
  }
  const redirectUri = client.defaultRedirectUri
  const mayUseCode =
    settings.pushedAuthorizationRequests !== 'required' &&
    client.allowedResponseTypes.includes('code') &&
    client.allowedGrantTypes.includes('authorization_code')
  if (redirectUri !== undefined && mayUseCode) {
    const href = withQuery(`${endpoint}/authorize`, {
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: redirectUri,
      state: 'try-it',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    })
    const fields = {
      grant_type: 'authorization_code',
      code: 'CODE',
      redirect_uri: redirectUri,
      code_verifier: verifier,
    }
    return { href, ...sampleOf(fields) }
  }
  return client.isConfidential && client.allowedGrantTypes.includes('client_credentials')
    ? { href: null, ...sampleOf({ grant_type: 'client_credentials' }) }
    : null
}
