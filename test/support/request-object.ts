import { type JWTPayload, SignJWT } from 'jose'
import { requestOf } from './pushed-request.ts'
import type { Claims, ClientKey } from './signing-client.ts'
import type { TestClient } from './user-agent.ts'

type Header = Readonly<Record<string, unknown>>

/** Returns the claims of a request object of the client: the parameters of its request, `iss` and `aud`. */
export const requestClaims = (client: TestClient, claims: Claims = {}): JWTPayload => {
  const { clientId: iss, app } = client
  return JSON.parse(JSON.stringify({ iss, aud: app.issuer, ...requestOf(client), ...claims }))
}

/** Signs claims. */
export const signedClaims = (
  claims: JWTPayload,
  { alg, privateKey, jwk }: ClientKey,
  header: Header = {},
): Promise<string> =>
  new SignJWT(claims)
    .setProtectedHeader({ alg, ...(jwk.kid === undefined ? {} : { kid: jwk.kid }), ...header })
    .sign(privateKey)

/** Signs a request object of the client (RFC 9101 §4). @param claims replace claims; undefined omits a claim */
export const requestObjectOf = (
  client: TestClient,
  key: ClientKey,
  claims: Claims = {},
  header: Header = {},
): Promise<string> => signedClaims(requestClaims(client, claims), key, header)

/** Returns the URL of an authorization request that consists of the client ID and the given parameters. */
export const objectUrl = (
  { app, clientId }: TestClient,
  given: Readonly<Record<string, string>>,
): string =>
  `${app.issuer}/oauth/authorize?${new URLSearchParams({ client_id: clientId, ...given })}`
