import { narrow } from '../../model/scope.ts'
import type { BuiltInGrant } from '../plug-ins.ts'

/** Issues an access token on behalf of the client's owner, without a refresh token. RFC 6749 §4.4. */
export const clientCredentials: BuiltInGrant = {
  type: 'client_credentials',
  isOn: ({ allowedGrantTypes }) => allowedGrantTypes.includes('client_credentials'),
  worksWithoutConsent: true,
  actsForClient: true,
  parameters: ['scope'],
  async redeem({ client, params }) {
    const scopes = narrow(params.opaque('scope'), {
      within: client.scopeCeilingWithoutConsent,
      otherwise: client.scopesWhenOmitted,
    })
    return { type: 'client', client, subject: client.owner, scopes }
  },
}
