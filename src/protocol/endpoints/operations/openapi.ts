import { metadataOperation } from '../../openapi/operations.ts'
import { responseOf } from '../../openapi/responses.ts'
import type { Endpoint } from '../../plug-ins.ts'
import { metadataResponse } from '../responses/responses.ts'

/** Returns the OpenAPI 3.1 document of all endpoints that describe themselves. */
export const openApiEndpoint: Endpoint = {
  path: ({ openapiPath }) => openapiPath,
  methods: ['GET'],
  cors: true,
  errors: 'json',
  async handle(_request, server) {
    // Load the code on the first request instead of at start-up, because few applications use this document.
    const { openApiDocument } = await import('../../openapi/document.ts')
    return metadataResponse(openApiDocument(server))
  },
  describe: () =>
    metadataOperation(
      { operationId: 'getOpenApi', summary: 'Returns this document' },
      { 200: responseOf('The document.', { type: 'object' }) },
    ),
}
