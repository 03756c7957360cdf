import type { Client } from '../../model/client.ts'
import { offlineAccessScope } from '../../model/openid-scopes.ts'
import type { UserId } from '../../model/user.ts'
import type { ServerContext } from '../server-context.ts'
import { loginIn, type OpenIdGrant } from './openid-request.ts'

/** The login of a user at a client, which receives an ID token. */
interface NewLogin {
  readonly client: Client
  readonly userId: UserId
  /** The authorization of the tokens; null if the client received only an ID token. */
  readonly authorizationId: number | null
  readonly scopes: readonly string[]
  /** The values of the ID token. */
  readonly grant: Pick<OpenIdGrant, 'session' | 'sid'>
  /** The ID of the stored session; null if the application has its own sessions. */
  readonly sessionId: string | null
}

/**
 * Stores that a client received an ID token from the authorization endpoint, so that the server can notify the client of
 * the logout. The token endpoint stores the login with the authorization.
 */
export const noteLogin = async (
  { client, userId, authorizationId, scopes, grant, sessionId }: NewLogin,
  { store, clock, settings, sessions, logouts }: ServerContext,
): Promise<void> => {
  const login = loginIn(grant)
  if (!login) return
  await store.clientLogins.insert({
    ...login,
    clientKey: client.clientKey,
    userId,
    authorizationId,
    isOffline: scopes.includes(offlineAccessScope.id),
    expiresAt: clock() + settings.sessionExpiresIn * 1000,
  })
  // If the session ended before this login was stored, end the login now.
  if (sessionId !== null && !(await sessions.isAlive(sessionId)))
    await logouts.sessionsEnded(userId)
}
