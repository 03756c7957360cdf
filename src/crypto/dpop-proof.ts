import {
  calculateJwkThumbprint,
  EmbeddedJWK,
  type JWSHeaderParameters,
  type JWTPayload,
  jwtVerify,
} from 'jose'
import { constantTimeEqual, sha256 } from './digest.ts'
import { withoutClaims } from './jose.ts'

/** The request that contains a proof. */
export interface ProvenRequest {
  readonly method: string
  /** The absolute URL without a query. */
  readonly uri: string
  /** Milliseconds since the epoch. */
  readonly now: number
  /** The accepted JWS algorithms, which must be asymmetric. */
  readonly algorithms: readonly string[]
  /** Returns why a public key is not accepted; undefined for an acceptable key. */
  readonly keyProblem: (key: Readonly<Record<string, unknown>>) => string | undefined
  /** The access token to which the proof must be bound. Set only for requests to a protected resource. */
  readonly accessToken?: string
}

/** A verified proof. */
export interface DpopProof {
  /** The SHA-256 thumbprint of the public key. RFC 7638, RFC 9449 §6.1. */
  readonly thumbprint: string
  readonly jti: string
  readonly nonce: string | undefined
  /** The expiry of the proof, in milliseconds since the epoch. */
  readonly expiresAt: number
}

/** The error for an invalid proof. The client receives the message, but never the cause. */
export class InvalidProof extends Error {
  override readonly name = 'InvalidProof'
}

/** The lifetime of a proof and the tolerated clock skew of its sender, in seconds. */
const maxAge = 300
const clockSkew = 60

// The maximum length of a proof in characters. A proof with an RSA key of 4096 bits and a long URL is still shorter.
const maxProofLength = 8_192
// The maximum length of the claim `jti` in characters.
const maxJtiLength = 256

// This pattern also rejects two `DPoP` headers, because Node joins their values with a comma.
const compactJws = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/

/**
 * Verifies a proof for a request (RFC 9449 §4.3). The caller must check the nonce, and must reject a reused `jti`.
 * @throws InvalidProof
 */
export const checkDpopProof = async (text: string, request: ProvenRequest): Promise<DpopProof> => {
  if (text.length > maxProofLength || !compactJws.test(text))
    throw new InvalidProof(
      `The request must have exactly one DPoP header, and its value must be a JWT of at most ${maxProofLength} characters.`,
    )
  const { payload, thumbprint } = await verified(text, request)
  const { jti, htm, htu, iat, nonce, ath } = payload
  if (typeof jti !== 'string' || jti === '' || jti.length > maxJtiLength)
    throw new InvalidProof(`The claim jti must have 1 to ${maxJtiLength} characters.`)
  if (htm !== request.method)
    throw new InvalidProof('The claim htm must equal the method of the request.')
  if (typeof htu !== 'string' || !isSameAddress(htu, request.uri))
    throw new InvalidProof(
      'The claim htu must equal the URL of the request, apart from the query and the fragment.',
    )
  if (typeof iat !== 'number' || !isRecent(iat, request.now))
    throw new InvalidProof(
      `The claim iat must be at most ${maxAge} seconds old, and must not be more than ${clockSkew} seconds in the future.`,
    )
  if (nonce !== undefined && typeof nonce !== 'string')
    throw new InvalidProof('The claim nonce must be a string.')
  if (request.accessToken !== undefined && !isHashOf(ath, request.accessToken))
    throw new InvalidProof('The claim ath must be the SHA-256 hash of the access token.')
  return { thumbprint, jti, nonce, expiresAt: Math.ceil((iat + maxAge) * 1000) + 1 }
}

const verified = async (
  text: string,
  { now, algorithms, keyProblem }: ProvenRequest,
): Promise<{ readonly payload: JWTPayload; readonly thumbprint: string }> => {
  try {
    const { payload, protectedHeader } = await jwtVerify(text, acceptedKey(keyProblem), {
      typ: 'dpop+jwt',
      algorithms: [...algorithms],
      currentDate: new Date(now),
      clockTolerance: clockSkew,
    })
    const { jwk = {} } = protectedHeader
    return { payload, thumbprint: await calculateJwkThumbprint(jwk, 'sha256') }
  } catch (error) {
    if (error instanceof InvalidProof) throw error
    const cause = withoutClaims(error)
    throw new InvalidProof(
      'The DPoP proof must be a JWT of the type dpop+jwt with a valid signature.',
      {
        cause,
      },
    )
  }
}

// The sender chooses the key, so check the key before verifying a signature with it.
const acceptedKey = (keyProblem: ProvenRequest['keyProblem']) => (header: JWSHeaderParameters) => {
  const problem = keyProblem({ ...header.jwk })
  if (header.jwk && problem !== undefined)
    throw new InvalidProof(`The key of the DPoP proof is not accepted: ${problem}`)
  return EmbeddedJWK(header)
}

/** The characters of a URI (RFC 3986 §2). */
const ascii = /^[\x21-\x7E]+$/

const isRecent = (iat: number, now: number): boolean => {
  const age = now / 1000 - iat
  return age <= maxAge && age >= -clockSkew
}

const isHashOf = (ath: unknown, accessToken: string): boolean =>
  typeof ath === 'string' && constantTimeEqual(ath, sha256(accessToken))

const isSameAddress = (htu: string, uri: string): boolean => {
  const claimed = normalized(htu)
  return claimed !== undefined && claimed === normalized(uri)
}

// Normalizes a URL (RFC 3986 §6.2.2, §6.2.3), and removes its query and fragment (RFC 9449 §4.3). Also
// decodes percent-encoded unreserved characters such as `%7E`, because the `URL` class does not decode them.
const normalized = (text: string): string | undefined => {
  // The time to convert a host to ASCII grows with the square of its length.
  const url = ascii.test(text) ? URL.parse(text) : null
  if (!url) return undefined
  const { origin, pathname, username, password } = url
  if (origin === 'null' || username !== '' || password !== '') return undefined
  return origin + pathname.replaceAll(/%[0-9A-Fa-f]{2}/g, decodedUnreserved)
}

const decodedUnreserved = (encoded: string): string => {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16))
  return /^[A-Za-z0-9\-._~]$/.test(character) ? character : encoded.toUpperCase()
}
