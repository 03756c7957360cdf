import { compactVerify, createLocalJWKSet, errors } from 'jose'
import { idTokenAlgorithms } from '../../records/keys/required-algorithms.ts'
import type { Configuration, Identity, Keys } from '../server-context.ts'

/** The claims of an ID token that this server issued. */
export interface VerifiedHint {
  readonly sub: string
  /** The ID of the client for which the ID token was issued. */
  readonly clientId: string
  readonly sid?: string | undefined
}

const maxLength = 8_192

/**
 * Verifies an ID token that a client returns as a hint. Accepts an expired ID token while its signing key is published.
 * Ignores keys in the header of the ID token.
 * @returns undefined for a value that is too long, or that this check does not recognize as an ID token of this server
 */
export const verifiedHint = async (
  hint: string,
  { issuer, settings, signingKeys }: Identity & Configuration & Keys,
): Promise<VerifiedHint | undefined> => {
  if (hint.length > maxLength) return undefined
  const keys = createLocalJWKSet({ keys: [...(await signingKeys.published()).keys] })
  try {
    const { payload, protectedHeader } = await compactVerify(hint, keys, {
      algorithms: [...idTokenAlgorithms(settings)],
    })
    // The same keys sign access tokens and logout tokens, which have other types.
    if (protectedHeader.typ !== 'JWT') return undefined
    const claims: unknown = JSON.parse(new TextDecoder().decode(payload))
    return isIdToken(claims, issuer)
      ? { sub: claims.sub, clientId: claims.aud, sid: claims.sid }
      : undefined
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof SyntaxError) return undefined
    throw error
  }
}

interface IdTokenClaims {
  readonly iss: string
  readonly sub: string
  readonly aud: string
  readonly sid?: string
}

const isIdToken = (claims: unknown, issuer: string): claims is IdTokenClaims => {
  if (typeof claims !== 'object' || claims === null) return false
  const { iss, sub, aud, exp, sid } = claims as Record<string, unknown>
  return (
    iss === issuer &&
    typeof sub === 'string' &&
    typeof aud === 'string' &&
    // A signed userinfo response has the same keys, type and audience, but no expiry (Core §2, §5.3.2).
    typeof exp === 'number' &&
    (sid === undefined || typeof sid === 'string')
  )
}
