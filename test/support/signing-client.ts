import { randomUUID } from 'node:crypto'
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  SignJWT,
} from 'jose'
import type { TestServer } from './server.ts'

/** A key pair of a client. */
export interface ClientKey {
  readonly alg: string
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
  readonly jwk: JWK
}

/** Creates a key pair. @param kid the ID of the key; null for a key without an ID */
export const newClientKey = async (
  alg = 'ES256',
  { kid = randomUUID(), ...more }: Omit<Partial<JWK>, 'kid'> & { kid?: string | null } = {},
): Promise<ClientKey> => {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), ...(kid === null ? {} : { kid }), ...more }
  return { alg, privateKey, publicKey, jwk }
}

/** Returns a JSON Web Key Set as text. */
export const jwksOf = (...keys: readonly ClientKey[]): string =>
  JSON.stringify({ keys: keys.map(({ jwk }) => jwk) })

/** Claims that replace those of a valid assertion; undefined omits a claim. */
export type Claims = Readonly<Record<string, unknown>>

/** Signs a client assertion. RFC 7523 §3. */
export const assertionOf = (
  { issuer, now }: Pick<TestServer, 'issuer' | 'now'>,
  clientId: string,
  { alg, privateKey, jwk }: ClientKey,
  claims: Claims = {},
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> => {
  const seconds = Math.floor(now() / 1000)
  const payload = {
    iss: clientId,
    sub: clientId,
    aud: issuer,
    iat: seconds,
    exp: seconds + 60,
    jti: randomUUID(),
    ...claims,
  }
  return new SignJWT(JSON.parse(JSON.stringify(payload)) as JWTPayload)
    .setProtectedHeader({ alg, ...(jwk.kid === undefined ? {} : { kid: jwk.kid }), ...header })
    .sign(privateKey)
}

export const jwtBearer = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
