import { maxPasswordBytes } from '../../model/field-rules.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import { narrow } from '../../model/scope.ts'
import type { BuiltInGrant } from '../plug-ins.ts'

/** Issues tokens for a user name and a password, which the client sends. Disabled by default. RFC 6749 §4.3. */
export const password: BuiltInGrant = {
  type: 'password',
  isOn: ({ allowedGrantTypes }) => allowedGrantTypes.includes('password'),
  worksWithoutConsent: true,
  parameters: ['username', 'password', 'scope'],
  async redeem({ client, params, http }, server) {
    const username = params.required('username')
    const secret = params.opaque('password')
    if (secret === undefined) throw new OAuthError('invalid_request', 'password is missing.')
    if (Buffer.byteLength(secret) > maxPasswordBytes) throw refused()
    const scopes = narrow(params.opaque('scope'), {
      within: client.scopeCeiling,
      otherwise: client.scopesWhenOmitted,
    })
    // The limit for known browsers does not apply, because a client has no cookie.
    const tried = { account: username, address: http.address }
    const user = await server.passwordTries.run(tried, () => server.getUser(username, secret))
    if (!user?.active) throw refused()
    return { type: 'user', client, subject: user, scopes, refreshable: true }
  },
}

const refused = (): OAuthError =>
  new OAuthError('invalid_grant', 'The username or the password is not valid.')
