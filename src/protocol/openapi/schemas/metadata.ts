import { z } from 'zod'
import { flag, text } from '../../../pages/shapes/shape.ts'
import type { Described } from '../described.ts'

const list = z.array(text)

const serverMembers = {
  issuer: text,
  authorization_endpoint: text,
  token_endpoint: text,
  response_types_supported: list,
  grant_types_supported: list,
  token_endpoint_auth_methods_supported: list,
  code_challenge_methods_supported: list,
  authorization_response_iss_parameter_supported: flag,
  // These members are optional, because the server omits an empty list.
  scopes_supported: list.optional(),
  response_modes_supported: list.optional(),
}

const resourceMembers = {
  resource: text,
  authorization_servers: list,
  bearer_methods_supported: list,
  scopes_supported: list.optional(),
  resource_name: text.optional(),
  resource_documentation: text.optional(),
}

/** Derives the types of the members from the metadata of this server. */
const membersOf = (metadata: Described['metadata']): Record<string, z.ZodType> =>
  Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => {
      const type = Array.isArray(value) ? list : typeof value === 'boolean' ? flag : text
      return [name, type.optional()]
    }),
  )

export const metadataShapes = ({ metadata, resourceMetadata }: Described) => ({
  ServerMetadata: z
    .looseObject({ ...membersOf(metadata), ...serverMembers })
    .describe('RFC 8414 §2. Extensions may add members.'),
  ResourceMetadata: z
    .looseObject({ ...membersOf(resourceMetadata), ...resourceMembers })
    .describe('RFC 9728 §2.'),
})
