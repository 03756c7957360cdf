import type { AuthorizationCode, CodeBinding } from '../../model/authorization.ts'
import { plainParameter } from '../../model/parameters.ts'
import { isRegistered } from '../../model/redirect-uri.ts'
import { checkProof, grantingUser, invalidCode, unknownCode } from '../code-redemption.ts'
import type { TokenRequest } from '../plug-ins/grant.ts'
import type { BuiltInGrant } from '../plug-ins.ts'
import type { ServerContext } from '../server-context.ts'

const kind = 'authorization_code'

/** Redeems an authorization code that the user granted on the consent page. RFC 6749 §4.1.3. */
export const authorizationCode: BuiltInGrant = {
  type: 'authorization_code',
  // If the response type `code` is disabled, the server issues no codes that could be redeemed.
  isOn: ({ allowedGrantTypes, allowedResponseTypes }) =>
    allowedGrantTypes.includes('authorization_code') && allowedResponseTypes.includes('code'),
  worksWithoutConsent: false,
  parameters: {
    code: plainParameter,
    redirect_uri: plainParameter,
    code_verifier: { ...plainParameter, description: 'RFC 7636.' },
    scope: plainParameter,
  },
  lookUp(params, server) {
    const [presented, ...others] = params.repeated('code')
    if (!presented || others.length > 0) return undefined
    return server.shortLived.codes.get(presented)
  },
  async redeem(request, server) {
    const { client, params, now } = request
    const value = params.required('code')
    const check = (binding: CodeBinding) => checkRedirectUri(binding, request, server)
    const looking = request.found as Promise<AuthorizationCode | undefined> | undefined
    const code = await (looking ?? server.shortLived.codes.get(value))
    // If the client ID was reset, an older code contains the former ID. `unknownCode` detects the replay of such codes.
    if (code?.clientId !== client.clientId)
      throw await unknownCode(kind, value, request, server, check)
    check(code)
    await checkProof(params, code, server, {
      countFailure: () => server.shortLived.codes.countFailure(value, code.expiresAt),
      delete: () => server.shortLived.codes.delete(value),
    })
    const { clientId, redirectUri, redirectUriGiven, extensions } = code
    const found = await grantingUser({ kind, value }, code, request, server, () => {
      if (code.expiresAt <= now) throw invalidCode(kind)
      if (!isRegistered(redirectUri, client))
        throw invalidCode(kind, 'the redirect URI was removed')
    })
    return {
      type: 'user',
      client,
      ...found,
      scopes: code.scopes,
      refreshable: true,
      receivedAt: redirectUri,
      under: {
        consentId: code.consentId,
        sessionId: code.sessionId,
        userAgent: code.userAgent,
      },
      code: { kind, value, binding: { clientId, redirectUri, redirectUriGiven, extensions } },
    }
  },
}

const checkRedirectUri = (
  code: CodeBinding,
  { params }: TokenRequest,
  { settings }: ServerContext,
): void => {
  const redirectUri = params.optional('redirect_uri')
  // In OAuth 2.1 (§10.2), token requests omit the redirect URI, because PKCE replaces the comparison.
  const mustRepeat = code.redirectUriGiven && settings.securityProfile !== 'oauth2.1'
  if (redirectUri === undefined ? mustRepeat : redirectUri !== code.redirectUri)
    throw invalidCode(kind)
}
