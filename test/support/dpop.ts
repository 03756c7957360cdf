import { createHash, randomUUID } from 'node:crypto'
import {
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  type JWK,
  SignJWT,
} from 'jose'
import type { TestServer } from './server.ts'
import { type TestClient, type TokenResponse, tokenRequest } from './user-agent.ts'

/** A DPoP key pair of a test client. */
export interface DpopKey {
  readonly algorithm: string
  readonly privateKey: CryptoKey
  readonly privateJwk: JWK
  readonly publicJwk: JWK
  readonly thumbprint: string
}

export const newKey = async (algorithm = 'ES256'): Promise<DpopKey> => {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
  const publicJwk = await exportJWK(publicKey)
  return {
    algorithm,
    privateKey,
    privateJwk: await exportJWK(privateKey),
    publicJwk,
    thumbprint: await calculateJwkThumbprint(publicJwk),
  }
}

/** The request that a proof covers. */
export interface ProofFor {
  readonly app: Pick<TestServer, 'issuer' | 'now'>
  /** The path below the issuer. */
  readonly path?: string
  readonly method?: string
  readonly accessToken?: string
  readonly nonce?: string
}

/** Members that replace those of a valid proof; undefined omits a member. */
export interface Changed {
  readonly header?: Readonly<Record<string, unknown>>
  readonly claims?: Readonly<Record<string, unknown>>
}

/** Returns a proof that is valid except for the changes. RFC 9449 §4.2. */
export const proofBy = async (
  key: DpopKey,
  { app, path = '/oauth/token', method = 'POST', accessToken, nonce }: ProofFor,
  { header = {}, claims = {} }: Changed = {},
): Promise<string> => {
  const ath = accessToken && createHash('sha256').update(accessToken).digest('base64url')
  const payload = {
    jti: randomUUID(),
    htm: method,
    htu: `${app.issuer}${path}`,
    iat: Math.floor(app.now() / 1000),
    ath,
    nonce,
    ...claims,
  }
  const jwk = key.publicJwk
  const protectedHeader = { typ: 'dpop+jwt', alg: key.algorithm, jwk, ...header }
  return new SignJWT(payload)
    .setProtectedHeader(protectedHeader as { alg: string })
    .sign(key.privateKey, { crit: { x: true } })
}

/** Sends a request to a protected endpoint with a token that is bound to the key, and with a proof. */
export const withKey = async (
  key: DpopKey,
  accessToken: string,
  at: ProofFor,
  changed?: Changed,
): Promise<Response> => {
  const { app, path = '/oauth/ping', method = 'GET' } = at
  const dpop = await proofBy(key, { ...at, path, method, accessToken }, changed)
  return fetch(`${app.issuer}${path}`, {
    method,
    headers: { authorization: `DPoP ${accessToken}`, dpop },
  })
}

/** The DPoP proof and the client authentication of a token request. */
export interface Asking {
  /** The value of the `DPoP` header, or the key that signs a valid proof. */
  readonly dpop?: string | DpopKey
  readonly nonce?: string
  readonly isPublic?: boolean
}

/** Sends a token request with a proof. */
export const askToken = async (
  client: TestClient,
  given: Record<string, string | undefined>,
  { dpop, nonce, isPublic = false }: Asking = {},
): Promise<TokenResponse> => {
  const { app, clientId } = client
  const proof =
    typeof dpop === 'object'
      ? await proofBy(dpop, { app, ...(nonce === undefined ? {} : { nonce }) })
      : dpop
  const response = await tokenRequest(
    app.issuer,
    { ...(isPublic ? { client_id: clientId } : {}), ...given },
    {
      ...(isPublic ? {} : { basic: client }),
      headers: proof === undefined ? {} : { dpop: proof },
    },
  )
  return response as unknown as TokenResponse
}

export const redeem = (
  client: TestClient,
  code: string,
  asking?: Asking,
): Promise<TokenResponse> => {
  const { redirectUri: redirect_uri, pkce } = client
  const code_verifier = pkce.verifier
  return askToken(
    client,
    { grant_type: 'authorization_code', code, redirect_uri, code_verifier },
    asking,
  )
}

export const refresh = (
  client: TestClient,
  refresh_token: string,
  asking?: Asking,
): Promise<TokenResponse> =>
  askToken(client, { grant_type: 'refresh_token', refresh_token }, asking)
