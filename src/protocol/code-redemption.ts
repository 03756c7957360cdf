import { digestOf } from '../crypto/digest.ts'
import type { CodeBinding } from '../model/authorization.ts'
import { OAuthError } from '../model/oauth-error.ts'
import type { Parameters } from '../model/parameters.ts'
import type { UserRedemption } from '../model/redemption.ts'
import { isWithin } from '../model/scope.ts'
import type { User, UserId } from '../model/user.ts'
import { findGrant } from '../records/consents.ts'
import { endReused, revokeReusedCode } from '../records/tokens/end-tokens.ts'
import type { TokenRequest } from './plug-ins/grant.ts'
import type { ServerContext } from './server-context.ts'

// Functions for the redemption of both authorization codes and device codes.

/** The types of codes that a client redeems for a user's tokens. */
export type CodeKind = 'authorization_code' | 'device_code'

/** The scopes that a user granted, with the consent and the session. */
export interface Granted {
  readonly userId: UserId
  readonly consentId: string
  /** Null if the grant remains valid after the session ends. */
  readonly sessionId: string | null
  readonly scopes: readonly string[]
}

/** The number of failed proofs after which a code is deleted. */
const maxFailures = 20

/** Returns the same error for every invalid code, so that guessing reveals nothing. */
export const invalidCode = (kind: CodeKind, cause?: unknown): OAuthError =>
  new OAuthError('invalid_grant', `The ${kind.replace('_', ' ')} is not valid.`, { cause })

/**
 * Checks the request against the parameters of the authorization request, such as the PKCE challenge.
 * @param code the functions that count a failed proof of the code and delete the code
 * @throws OAuthError of the extension whose check fails
 */
export const checkProof = async (
  params: Parameters,
  binding: CodeBinding,
  { extensions }: ServerContext,
  code: { countFailure(): Promise<number>; delete(): Promise<void> },
): Promise<void> => {
  try {
    for (const extension of extensions) extension.onCodeRedemption?.(params, binding)
  } catch (error) {
    if ((await code.countFailure()) >= maxFailures) await code.delete()
    throw error
  }
}

/**
 * Returns the user who granted the code, facts of the consent, and the IDs of the rows to insert, if the user, session,
 * consent and scopes are still valid. The proof of the code was verified before. If a check fails and the code was
 * redeemed before, the request is a replay, so all tokens of the code are revoked.
 * @param check throws an OAuthError if a further condition of this type of code is not met
 * @throws OAuthError `invalid_grant`
 */
export const grantingUser = async (
  { kind, value }: { readonly kind: CodeKind; readonly value: string },
  { userId, consentId, sessionId, scopes }: Granted,
  { client }: TokenRequest,
  server: ServerContext,
  check: () => void = () => undefined,
): Promise<
  Pick<UserRedemption, 'reserved'> & { readonly subject: User; readonly reusedSince: number | null }
> => {
  try {
    check()
    const grant = await findGrant(userId, client.clientId, sessionId, server.records)
    if (grant?.consent.id !== consentId) throw invalidCode(kind, 'the consent was withdrawn')
    const { user, session, consent, reserved } = grant
    if (!user?.active) throw invalidCode(kind, 'the user does not exist or is not active')
    if (sessionId !== null && !server.sessions.isLive(session))
      throw invalidCode(kind, 'the session ended')
    if (!isWithin(scopes, client.scopeCeiling))
      throw invalidCode(kind, 'a scope is no longer available')
    return { subject: user, reusedSince: consent.reusedSince, reserved }
  } catch (error) {
    if (error instanceof OAuthError) await revokeReusedCode(kind, value, server.records)
    throw error
  }
}

/**
 * Returns the error for a code that is expired, redeemed, never issued, or issued to another client. A replay revokes
 * the tokens of the code (RFC 6749 §4.1.2), but only with the complete proof: an attacker who stole only the code must
 * not be able to revoke tokens.
 * @param check throws an OAuthError if a further condition of this type of code is not met
 */
export const unknownCode = async (
  kind: CodeKind,
  value: string,
  { client, params }: TokenRequest,
  server: ServerContext,
  check: (binding: CodeBinding) => void = () => undefined,
): Promise<OAuthError> => {
  // The row of the authorization outlives the code.
  const authorization = await server.store.authorizations.find({
    codeDigest: digestOf(kind, value),
  })
  if (!authorization?.code || authorization.revokedAt !== null) return invalidCode(kind)
  // After a reset of the client ID, the stored binding contains the former ID, so replace it by the current ID.
  if (authorization.clientId !== client.clientId) return invalidCode(kind)
  const binding = { ...authorization.code, clientId: authorization.clientId }
  check(binding)
  for (const extension of server.extensions) extension.onCodeRedemption?.(params, binding)
  await endReused(kind, authorization, server.records)
  return invalidCode(kind)
}
