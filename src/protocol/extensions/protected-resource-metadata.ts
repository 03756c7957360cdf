// RFC 9728: OAuth 2.0 Protected Resource Metadata

import {
  type ProtectedResource,
  resourceMetadataPath as path,
  resourceNamed,
} from '../../model/protected-resource.ts'
import { component } from '../../pages/shapes/shape.ts'
import { notFound } from '../endpoints/responses/problem.ts'
import { metadataResponse, withoutEmptyLists } from '../endpoints/responses/responses.ts'
import { resourceMetadataOfExtensions } from '../endpoints/token/supported.ts'
import { schemaOfDocuments } from '../openapi/metadata.ts'
import { metadataOperation } from '../openapi/operations.ts'
import { responseOf } from '../openapi/responses.ts'
import type { Extension } from '../plug-ins.ts'
import type { ServerContext } from '../server-context.ts'

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
  ...resourceMetadataOfExtensions(server),
})

/** Publishes which authorization server protects the application and each of its resources. */
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
        // A request without a resource path returns the metadata of the whole application.
        const [whole] = about === '' ? server.resources : []
        const resource = resourceNamed(server.resources, `${origin}${about}`) ?? whole
        if (!resource) throw notFound()
        return metadataResponse(withoutEmptyLists(metadata(resource, server)))
      },
      describe: (server) =>
        metadataOperation(
          {
            operationId: 'getResourceMetadata',
            summary: 'Returns the protected resource metadata (RFC 9728)',
          },
          {
            200: responseOf(
              'The document.',
              component(
                'ResourceMetadata',
                schemaOfDocuments(
                  server.resources.map((resource) => withoutEmptyLists(metadata(resource, server))),
                  'RFC 9728 §2.',
                ),
              ),
            ),
          },
        ),
    },
  ],
}
