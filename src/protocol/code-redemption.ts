import { digestOf } from '../crypto/digest.ts'
import type { Authorization, CodeBinding } from '../model/authorization.ts'
import { OAuthError } from '../model/oauth-error.ts'
import type { Parameters } from '../model/parameters.ts'
import { isWithin } from '../model/scope.ts'
import type { User, UserId } from '../model/user.ts'
import type { TokenRequest } from './plug-ins/grant.ts'
import type { ServerContext } from './server-context.ts'

// The steps that the redemption of authorization codes and of device codes share.

/** The codes that a client redeems for tokens of a user. */
export type CodeKind = 'authorization_code' | 'device_code'

/** The scopes that the user granted, with the consent and the session. */
export interface Granted {
  readonly userId: UserId
  readonly consentId: string
  /** Null if the grant does not end with a session. */
  readonly sessionId: string | null
  readonly scopes: readonly string[]
}

/** Wrong verifiers that the client of the code may present; the last one deletes the code. */
const maxFailures = 20

/** Returns the same error for every invalid code, so that guessing reveals nothing. */
export const invalidCode = (kind: CodeKind, cause?: unknown): OAuthError =>
  new OAuthError('invalid_grant', `The ${kind.replace('_', ' ')} is not valid.`, { cause })

/**
 * Checks the request against the parameters of the authorization request, such as the PKCE challenge.
 * @param code counts wrong proofs of this code, and deletes it after too many
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
 * Returns the user who granted the code, if the user, session, consent and scopes still exist.
 * @throws OAuthError `invalid_grant`
 */
export const grantingUser = async (
  kind: CodeKind,
  { userId, consentId, sessionId, scopes }: Granted,
  { client }: TokenRequest,
  server: ServerContext,
): Promise<User> => {
  const user = await server.users.find(userId)
  if (!user?.active) throw invalidCode(kind, 'the user is gone, or not active')
  if (sessionId !== null && !(await server.sessions.isAlive(sessionId)))
    throw invalidCode(kind, 'the session ended')
  const consent = await server.consents.find(userId, client.clientId)
  if (consent?.id !== consentId) throw invalidCode(kind, 'the consent was withdrawn')
  if (!isWithin(scopes, client.scopeCeiling)) throw invalidCode(kind, 'a scope is gone')
  return user
}

/**
 * Runs the last checks of a code whose proof was verified. If they fail and the code was redeemed before, the request
 * is a replay, and everything issued from the code is revoked.
 */
export const orRevokeReplay = async <T>(
  kind: CodeKind,
  value: string,
  { tokens }: ServerContext,
  checks: () => Promise<T>,
): Promise<T> => {
  try {
    return await checks()
  } catch (error) {
    if (error instanceof OAuthError) await tokens.revokeReusedCode(kind, value)
    throw error
  }
}

/** Returns the authorization that was issued for a redeemed code. The row stays as a tombstone of the code. */
const redeemedFor = (
  kind: CodeKind,
  value: string,
  { store }: ServerContext,
): Promise<Authorization | undefined> => store.authorizations.findByCode(digestOf(kind, value))

/**
 * Revokes everything issued from a redeemed code whose proof was verified; returns undefined if it was never redeemed.
 */
export const revokeReplay = async (
  kind: CodeKind,
  value: string,
  server: ServerContext,
): Promise<OAuthError | undefined> =>
  (await redeemedFor(kind, value, server)) && server.tokens.revokeReusedCode(kind, value)

/**
 * Returns the error for a code that is not stored for this client: another client's, expired, redeemed, or never
 * issued. A replay revokes issued tokens only if it also presents the complete proof (RFC 6749 §4.1.2), so that a
 * stolen code is not enough to revoke tokens.
 * @param check the conditions of this kind of code @throws OAuthError
 */
export const unknownCode = async (
  kind: CodeKind,
  value: string,
  { client, params }: TokenRequest,
  server: ServerContext,
  check: (binding: CodeBinding) => void = () => undefined,
): Promise<OAuthError> => {
  const authorization = await redeemedFor(kind, value, server)
  if (!authorization?.code || authorization.revokedAt !== null) return invalidCode(kind)
  // The authorization follows its client to another client ID; the stored binding has the ID of that time.
  if (authorization.clientId !== client.clientId) return invalidCode(kind)
  const binding = { ...authorization.code, clientId: authorization.clientId }
  check(binding)
  for (const extension of server.extensions) extension.onCodeRedemption?.(params, binding)
  return server.tokens.revokeReusedCode(kind, value)
}
