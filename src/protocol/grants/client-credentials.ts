import { OAuthError } from '../../model/oauth-error.ts'
import { narrow } from '../../model/scope.ts'
import type { BuiltInGrant } from '../plug-ins.ts'

/** Issues an access token on behalf of the client's owner, without a refresh token. RFC 6749 §4.4. */
export const clientCredentials: BuiltInGrant = {
  type: 'client_credentials',
  isOn: ({ allowedGrantTypes }) => allowedGrantTypes.includes('client_credentials'),
  worksWithoutConsent: true,
  parameters: ['scope'],
  async redeem({ client, params }) {
    if (!client.isConfidential) {
      throw new OAuthError('unauthorized_client', 'A public client cannot use client_credentials.')
    }
    const scopes = narrow(params.opaque('scope'), {
      within: client.scopeCeilingWithoutConsent,
      otherwise: client.scopesWhenOmitted,
    })
    return { type: 'client', client, subject: client.owner, scopes }
  },
}
