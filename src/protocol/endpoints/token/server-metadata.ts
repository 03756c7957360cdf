import type { JsonSchema } from '../../../model/parameters.ts'
import { needImplicit } from '../../../model/response-type.ts'
import { component } from '../../../pages/shapes/shape.ts'
import { schemaOfDocuments } from '../../openapi/metadata.ts'
import type { ServerContext } from '../../server-context.ts'
import { supportedResponseModes } from '../authorization/response-mode.ts'
import { withoutEmptyLists } from '../responses/responses.ts'
import {
  advertisedAddresses,
  metadataOfExtensions,
  supportedGrantTypes,
  supportedResponseTypes,
} from './supported.ts'

/** Returns the metadata of the authorization server, which describe its enabled plug-ins. RFC 8414 §2. */
export const serverMetadata = (server: ServerContext): Readonly<Record<string, unknown>> => {
  const { issuer, scopes, clientAuthentication } = server
  const responseTypes = supportedResponseTypes(server)
  const implicit = needImplicit(responseTypes) ? ['implicit'] : []
  return {
    issuer,
    ...advertisedAddresses(server),
    scopes_supported: scopes.requestable(),
    response_types_supported: responseTypes,
    response_modes_supported: supportedResponseModes(responseTypes),
    grant_types_supported: [...supportedGrantTypes(server), ...implicit],
    token_endpoint_auth_methods_supported: clientAuthentication.map(({ name }) => name),
    ...metadataOfExtensions(server),
  }
}

/**
 * Lists that are published even if they are empty (RFC 8414 §2): `response_types_supported` is required, and a missing
 * `grant_types_supported` would mean the default value.
 */
export const meaningfulWhenEmpty = ['response_types_supported', 'grant_types_supported']

/** Describes the metadata of this server for the OpenAPI document. */
export const metadataSchema = (server: ServerContext): JsonSchema =>
  component(
    'ServerMetadata',
    schemaOfDocuments(
      [withoutEmptyLists(serverMetadata(server), meaningfulWhenEmpty)],
      'RFC 8414 §2. Extensions may add members.',
    ),
  )
