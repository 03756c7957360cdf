import { metadataResponse } from '../../protocol/endpoints/responses/responses.ts'
import {
  advertisedAddresses,
  metadataOfExtensions,
  resourceMetadataOfExtensions,
  supportedGrantTypes,
  supportedResponseTypes,
} from '../../protocol/endpoints/token/supported.ts'
import type { Endpoint } from '../../protocol/plug-ins.ts'

/** Returns the OpenAPI 3.1 document of the settings API and the protocol endpoints. */
export const openApiEndpoint: Endpoint = {
  path: ({ openapiPath }) => openapiPath,
  methods: ['GET'],
  cors: true,
  errors: 'json',
  async handle(_request, server) {
    const { issuer, settings, ui, sessions } = server
    const described = {
      issuer,
      settings,
      grantTypes: supportedGrantTypes(server),
      grantParameters: server.grants.flatMap(({ parameters }) => parameters),
      responseTypes: supportedResponseTypes(server),
      metadata: { ...advertisedAddresses(server), ...metadataOfExtensions(server) },
      resourceMetadata: resourceMetadataOfExtensions(server),
      sessionCookie: ui.links.sessions === null ? null : sessions.cookieName,
      hasPasswords: ui.links.password !== null,
      hasUserLinks: ui.links.verifyEmail !== null,
    }
    // Load the schemas on the first request instead of at start-up, because few applications use this document.
    const { openApiDocument } = await import('./document.ts')
    return metadataResponse(openApiDocument(described))
  },
}
