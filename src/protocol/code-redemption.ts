import { digestOf } from '../crypto/digest.ts'
import type { Authorization, CodeBinding } from '../model/authorization.ts'
import { OAuthError } from '../model/oauth-error.ts'
import type { Parameters } from '../model/parameters.ts'
import { isWithin } from '../model/scope.ts'
import type { User, UserId } from '../model/user.ts'
import type { TokenRequest } from './plug-ins/grant.ts'
import type { ServerContext } from './server-context.ts'

// What authorization codes and device codes have in common when they are redeemed.

/** The codes that a client redeems for tokens of a user. */
export type CodeKind = 'authorization_code' | 'device_code'

/** What the user granted, and under which consent and session. */
export interface Granted {
  readonly userId: UserId
  readonly consentId: string
  /** Null where the grant does not end with a session. */
  readonly sessionId: string | null
  readonly scopes: readonly string[]
}

/** Wrong verifiers that the rightful client may present. After the last one, the code is deleted. */
const maxFailures = 20

/** Returns the one error for every way in which a code can be wrong, so that guessing teaches nothing. */
export const invalidCode = (kind: CodeKind, cause?: unknown): OAuthError =>
  new OAuthError('invalid_grant', `The ${kind.replace('_', ' ')} is not valid.`, { cause })

/**
 * Checks what the client promised when it asked for the code, such as PKCE.
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
 * Returns the user who granted the code, if user, session, consent and scopes are still there.
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
 * Runs the last checks on a fully proven code. If they fail for a code that was redeemed before, this request is a
 * replay: what was issued from the code is revoked.
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

/** Returns the authorization that a redeemed code led to: it stays as a tombstone of the code. */
const redeemedFor = (
  kind: CodeKind,
  value: string,
  { store }: ServerContext,
): Promise<Authorization | undefined> => store.authorizations.findByCode(digestOf(kind, value))

/** Revokes what was issued from a fully proven code that was redeemed before; undefined if it never was. */
export const revokeReplay = async (
  kind: CodeKind,
  value: string,
  server: ServerContext,
): Promise<OAuthError | undefined> =>
  (await redeemedFor(kind, value, server)) && server.tokens.revokeReusedCode(kind, value)

/**
 * Returns the error for a code that is not stored for this client: another client's, expired, redeemed, or never issued.
 * A replay revokes what was issued only with full proof once more (RFC 6749 §4.1.2), so that a stolen code alone
 * cannot end somebody's tokens.
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
