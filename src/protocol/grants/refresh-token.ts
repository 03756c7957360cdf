import { OAuthError } from '../../model/oauth-error.ts'
import { plainParameter } from '../../model/parameters.ts'
import { narrow, parseScope } from '../../model/scope.ts'
import { type FoundToken, isActive, isExpired } from '../../model/token.ts'
import type { BuiltInGrant } from '../plug-ins.ts'

/** Redeems a refresh token for an access token with some or all of the granted scopes. RFC 6749 §6. */
export const refreshToken: BuiltInGrant = {
  type: 'refresh_token',
  isOn: ({ allowedGrantTypes }) => allowedGrantTypes.includes('refresh_token'),
  worksWithoutConsent: false,
  parameters: { refresh_token: plainParameter, scope: plainParameter },
  lookUp(params, server) {
    const [presented, ...others] = params.repeated('refresh_token')
    if (!presented || others.length > 0) return undefined
    return server.getToken({ refreshToken: presented })
  },
  async redeem({ client, params, now, found: looked }, server) {
    const presented = params.required('refresh_token')
    const requested = params.opaque('scope')
    const parameters = requested === undefined ? '' : [...parseScope(requested)].sort().join(' ')
    const looking = looked as Promise<FoundToken | undefined> | undefined
    const found = await (looking ?? server.getToken({ refreshToken: presented }))
    if (!found) return { type: 'refresh', client, presented, parameters }

    const refused = () => new OAuthError('invalid_grant', 'The refresh token is not valid.')
    const { token, authorization } = found
    if (token.clientId !== client.clientId || !authorization) throw refused()
    if (isExpired(token.refreshExpires, now) || !isActive(found)) throw refused()

    // Remove scopes that the client may no longer request.
    const ceiling = new Set(client.scopeCeiling)
    const remaining = authorization.scopes.filter((scope) => ceiling.has(scope))
    const scopes = narrow(requested, { within: remaining, otherwise: remaining })
    if (authorization.scopes.length > 0 && scopes.length === 0) {
      throw new OAuthError(
        'invalid_scope',
        'The client may no longer request any of the granted scopes.',
      )
    }
    return { type: 'refresh', client, presented, parameters, current: { found, scopes } }
  },
}
