import { signatureAlgorithms } from '../crypto/jose.ts'
import { UserProxy } from '../model/user.ts'
import { resourceMetadataAddress } from '../protocol/extensions/protected-resource-metadata.ts'
import { ResourceServer, type ResourceServerOptions } from '../protocol/resource-server.ts'
import type { Sessions } from '../protocol/session/sessions.ts'
import type { BuiltRecords } from './build-records.ts'
import type { Prepared } from './prepare.ts'

/** Builds the resource server, which authenticates requests to the application. */
export const buildResourceServer = (
  { settings, issuer, resources, telemetry, traces }: Prepared,
  { context: { clock, limits }, records, provider, uses }: BuiltRecords,
  {
    sessions,
    check,
  }: {
    readonly sessions: Sessions
    readonly check: ResourceServerOptions['check']
  },
): ResourceServer => {
  const metadataAddresses = new Map(
    resources.map(({ resource }) => [resource, resourceMetadataAddress(resource)]),
  )
  return new ResourceServer({
    noteUse: (found, now, address) => uses.note(found, now, address),
    noteScopes: (tokenId, scopes) => uses.noteScopes(tokenId, scopes),
    noteLookup: telemetry.tokenLookup,
    getToken: (by) => traces.step('oauth2server.token_lookup', () => provider.getToken(by)),
    userProxy: (user) => new UserProxy(user, records.users),
    session: sessions,
    jwtAuthHeader: settings.jwtAuthHeader,
    jwtAuthHeaderType: settings.jwtAuthHeaderType,
    clock,
    limits,
    tokenQuota: settings.tokenQuota,
    acceptQueryAccessToken: settings.acceptQueryAccessToken,
    realm: issuer,
    resourceMetadata: (resource) => metadataAddresses.get(resource ?? issuer) ?? '',
    acceptsDpop: settings.dpop !== 'off',
    requiresDpop: settings.dpop === 'required',
    dpopAlgorithms: signatureAlgorithms(settings).join(' '),
    check,
  })
}
