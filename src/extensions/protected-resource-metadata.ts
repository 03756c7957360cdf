// RFC 9728: OAuth 2.0 Protected Resource Metadata
import { metadataAnswer } from '../endpoints/answers.ts'
import type { Extension } from '../extension.ts'

const path = '/.well-known/oauth-protected-resource'

/** The address of the metadata, for the challenge to whoever comes without a token. RFC 9728 §5.1. */
export const resourceMetadataAddress = (issuer: string): string => {
  const { origin, pathname } = new URL(issuer)
  return `${origin}${path}${pathname.replace(/\/$/, '')}`
}

/** Tells the clients of the embedding application which authorization server protects it. */
export const protectedResourceMetadata: Extension = {
  name: 'protected-resource-metadata',
  endpoints: [
    {
      path: () => path,
      wellKnown: true,
      methods: ['GET'],
      errors: 'json',
      handle: async (_request, { issuer, scopes, settings }) =>
        metadataAnswer({
          resource: issuer,
          authorization_servers: [issuer],
          scopes_supported: scopes.requestable(),
          bearer_methods_supported: settings.acceptQueryAccessToken
            ? ['header', 'query']
            : ['header'],
        }),
    },
  ],
}
