// RFC 9728: OAuth 2.0 Protected Resource Metadata
import { metadataAnswer, withoutEmptyLists } from '../endpoints/answers.ts'
import type { Extension, ServerContext } from '../extension.ts'
import type { ProtectedResource } from '../model/protected-resource.ts'

const path = '/.well-known/oauth-protected-resource'

/** The address of the metadata, for the challenge to whoever comes without a token. RFC 9728 §5.1. */
export const resourceMetadataAddress = (resource: string): string => {
  const { origin, pathname, search } = new URL(resource)
  return `${origin}${path}${pathname.replace(/\/$/, '')}${search}`
}

const metadata = (
  { resource, name, scopes, documentation }: ProtectedResource,
  server: ServerContext,
): Readonly<Record<string, unknown>> => ({
  resource,
  authorization_servers: [server.issuer],
  scopes_supported: scopes ?? server.scopes.requestable(),
  bearer_methods_supported: server.settings.acceptQueryAccessToken
    ? ['header', 'query']
    : ['header'],
  ...(name === undefined ? {} : { resource_name: name }),
  ...(documentation === undefined ? {} : { resource_documentation: documentation }),
  ...Object.assign({}, ...server.extensions.map((e) => e.resourceMetadata?.(server))),
})

/** Tells clients which authorization server protects the application, and each part of it that has an address. */
export const protectedResourceMetadata: Extension = {
  name: 'protected-resource-metadata',
  // RFC 9728 §4
  metadata: ({ resources }) => ({ protected_resources: resources.map(({ resource }) => resource) }),
  endpoints: [
    {
      path: () => path,
      wellKnown: ({ resources }) => resources.map(({ resource }) => resource),
      methods: ['GET'],
      cors: true,
      errors: 'json',
      async handle(request, server) {
        const about = request.path.replace(path, '')
        const { origin } = new URL(server.issuer)
        const isAskedFor = ({ resource }: ProtectedResource) =>
          resource.replace(/\/$/, '') === `${origin}${about}`
        const [whole] = server.resources
        const resource = server.resources.find(isAskedFor) ?? whole
        return metadataAnswer(resource ? withoutEmptyLists(metadata(resource, server)) : {})
      },
    },
  ],
}
