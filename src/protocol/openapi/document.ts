import type { Operations } from '../plug-ins/operation.ts'
import type { Endpoint } from '../plug-ins.ts'
import type { ServerContext } from '../server-context.ts'
import * as errors from './errors.ts'
import { sharedResponses } from './responses.ts'
import { type Part, text } from './schema.ts'
import { securitySchemes } from './security.ts'
import { withSchemas } from './shape.ts'

/** Builds the OpenAPI 3.1 document from the descriptions of the endpoints. */
export const openApiDocument = (server: ServerContext): Part => {
  const { part, schemas } = withSchemas({
    paths: Object.fromEntries(server.endpoints.flatMap((endpoint) => pathItemOf(endpoint, server))),
    responses: sharedResponses,
    errors,
  })
  return {
    openapi: '3.1.0',
    info: { title: 'Authorization server', version: '1', description: introduction },
    servers: [{ url: server.issuer }],
    tags: [
      {
        name: 'settings',
        description: 'The settings pages, for scripts with the session of a user.',
      },
      { name: 'protocol', description: 'The OAuth 2.0 endpoints.' },
      { name: 'metadata', description: 'Public metadata.' },
    ],
    paths: part.paths,
    components: {
      securitySchemes: securitySchemes(server),
      responses: part.responses,
      schemas,
    },
  }
}

const pathParameter = /:(\w+)/g

/** Returns the path and the operations of an endpoint; an empty list for an endpoint without a description. */
const pathItemOf = (
  endpoint: Endpoint,
  server: ServerContext,
): readonly (readonly [path: string, Operations])[] => {
  const operations = endpoint.describe?.(server)
  if (!operations) return []
  const path = endpoint.path(server.settings)
  const parameters = [...path.matchAll(pathParameter)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: text,
  }))
  const item = { ...(parameters.length > 0 && { parameters }), ...operations }
  return [[path.replaceAll(pathParameter, '{$1}'), item]]
}

const introduction = `The settings endpoints return JSON if \`Accept\` contains \`application/json\` with a higher
weight than HTML. Otherwise they return an HTML page or a redirect, for instance to the login if no user is logged in.
A page requires only the session cookie. JSON also requires the JWT of the session.

A settings endpoint that returns JSON accepts JSON, or a form with the same field names. A form repeats a field to
send a list. Unknown fields are ignored. A method that an endpoint does not support is refused with 405 and the header \`Allow\`.`
