import type { AuthorizationCode, CodeBinding } from '../../model/authorization.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import { isRegistered } from '../../model/redirect-uri.ts'
import { isWithin } from '../../model/scope.ts'
import type { TokenRequest } from '../plug-ins/grant.ts'
import type { BuiltInGrant } from '../plug-ins.ts'
import type { Configuration, PlugIns, ServerContext } from '../server-context.ts'

/** So many wrong verifiers may the rightful client try; then the code is worthless. */
const mostFailures = 20

const refused = (cause?: unknown): OAuthError =>
  new OAuthError('invalid_grant', 'The authorization code is not valid.', { cause })

/** A user agreed on the consent page, and the client fetches its tokens. RFC 6749 §4.1.3. */
export const authorizationCode: BuiltInGrant = {
  type: 'authorization_code',
  // Without the response type, no code is issued that could be redeemed.
  isOn: ({ allowedGrantTypes, allowedResponseTypes }) =>
    allowedGrantTypes.includes('authorization_code') && allowedResponseTypes.includes('code'),
  parameters: ['code', 'redirect_uri', 'code_verifier', 'scope'],
  async redeem(request, server) {
    const value = request.params.required('code')
    const code = await server.shortLived.codes.get(value)
    // One of another client may be a used one, whose client has another id by now.
    if (code?.clientId !== request.client.clientId) throw await unknownCode(value, request, server)
    checkBinding(code, request, server)
    await checkProof(value, code, request, server)
    const subject = await grantingUser(code, request, server).catch(async (error: unknown) => {
      // Who has proved everything for a used code is a replay, whatever else happened since.
      if (error instanceof OAuthError)
        await server.tokens.revokeReusedCode('authorization_code', value)
      throw error
    })
    const { clientId, redirectUri, redirectUriGiven, extensions } = code
    const binding = { clientId, redirectUri, redirectUriGiven, extensions }
    return {
      type: 'user',
      client: request.client,
      subject,
      scopes: code.scopes,
      refreshable: true,
      under: {
        consentId: code.consentId,
        sessionId: code.sessionId,
        userAgent: code.userAgent,
      },
      code: { kind: 'authorization_code', value, binding },
    }
  },
}

// One message for all: who guesses learns nothing from the difference.
const checkBinding = (
  code: CodeBinding,
  { client, params }: TokenRequest,
  { settings }: Configuration,
): void => {
  if (code.clientId !== client.clientId) throw refused()
  const redirectUri = params.optional('redirect_uri')
  // In OAuth 2.1 PKCE does what the repetition was for, and clients leave it out (§10.2).
  const mustRepeat = code.redirectUriGiven && settings.securityProfile !== 'oauth2.1'
  if (redirectUri === undefined ? mustRepeat : redirectUri !== code.redirectUri) throw refused()
}

const checkProof = async (
  value: string,
  code: AuthorizationCode,
  { params }: TokenRequest,
  { extensions, shortLived: { codes } }: Pick<ServerContext, 'shortLived'> & PlugIns,
): Promise<void> => {
  try {
    for (const extension of extensions) extension.onCodeRedemption?.(params, code)
  } catch (error) {
    const failures = await codes.countFailure(value, code.expiresAt)
    if (failures >= mostFailures) await codes.delete(value)
    throw error
  }
}

/** The user who granted it, if nothing has happened since that takes it back. */
const grantingUser = async (
  code: AuthorizationCode,
  { client, now }: TokenRequest,
  server: ServerContext,
) => {
  const user = await server.users.find(code.userId)
  if (!user?.active || code.expiresAt <= now) throw refused()
  if (code.sessionId !== null && !(await server.sessions.isAlive(code.sessionId)))
    throw refused('the session ended')
  const consent = await server.consents.find(code.userId, client.clientId)
  if (consent?.id !== code.consentId) throw refused('the consent was withdrawn')
  if (!isWithin(code.scopes, client.scopeCeiling)) throw refused('a scope is gone')
  if (!isRegistered(code.redirectUri, client)) throw refused('the redirect URI was removed')
  return user
}

// Its transient is gone: expired, never there, or redeemed. Only in the last case is there a tombstone, and only
// who proves everything once more is a replay that takes the tokens along (RFC 6749 §4.1.2).
const unknownCode = async (
  value: string,
  request: TokenRequest,
  server: ServerContext,
): Promise<OAuthError> => {
  const authorization = await server.store.authorizations.findByCode(
    server.shortLived.codes.digest(value),
  )
  if (!authorization?.code || authorization.revokedAt !== null) return refused()
  // The foreign key followed the client to its present id, the binding did not.
  const binding = { ...authorization.code, clientId: authorization.clientId }
  checkBinding(binding, request, server)
  for (const extension of server.extensions) extension.onCodeRedemption?.(request.params, binding)
  return server.tokens.revokeReusedCode('authorization_code', value)
}
