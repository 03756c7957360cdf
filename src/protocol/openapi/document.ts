import type { Described } from './described.ts'
import { activityPaths } from './paths/activity.ts'
import { administrationPaths } from './paths/administration.ts'
import { clientPaths } from './paths/clients.ts'
import { extensionPaths } from './paths/extensions.ts'
import { healthPaths } from './paths/health.ts'
import { protocolPaths } from './paths/protocol.ts'
import { sessionPaths } from './paths/sessions.ts'
import { tokenPaths } from './paths/tokens.ts'
import { sharedResponses } from './responses.ts'
import type { Part } from './schema.ts'
import { activitySchemas } from './schemas/activity.ts'
import { administrationSchemas } from './schemas/administration.ts'
import { applicationSchemas } from './schemas/applications.ts'
import { clientSchemas } from './schemas/clients.ts'
import { errorSchemas } from './schemas/errors.ts'
import { personalTokenSchemas } from './schemas/personal-tokens.ts'
import { protocolSchemas } from './schemas/protocol.ts'
import { sessionSchemas } from './schemas/sessions.ts'
import { securitySchemes } from './security.ts'

/** The OpenAPI 3.1 document of a server. */
export const openApiDocument = (server: Described): Part => ({
  openapi: '3.1.0',
  info: {
    title: 'Authorization server',
    version: '1',
    description: introduction,
  },
  servers: [{ url: server.issuer }],
  tags: [
    { name: 'settings', description: 'What users manage: for scripts of their session.' },
    { name: 'protocol', description: 'OAuth 2.0.' },
    { name: 'metadata', description: 'For everybody.' },
  ],
  paths: {
    ...clientPaths(server),
    ...tokenPaths(server),
    ...sessionPaths(server),
    ...activityPaths(server),
    ...administrationPaths(server),
    ...protocolPaths(server),
    ...extensionPaths(server),
    ...healthPaths(),
  },
  components: {
    securitySchemes: securitySchemes(server),
    responses: sharedResponses,
    schemas: {
      ...clientSchemas,
      ...personalTokenSchemas(server),
      ...applicationSchemas,
      ...(server.sessionCookie === null ? {} : sessionSchemas),
      ...activitySchemas,
      ...administrationSchemas(clientSchemas.Client ?? {}),
      ...protocolSchemas(server),
      ...errorSchemas,
    },
  },
})

const introduction = `The addresses of the settings are pages for people. They answer JSON where a request has
\`Accept: application/json\` and names no HTML; without that, they answer with the page.

A body is JSON, or a form with fields of the same names. A list is a field that is repeated then. Fields that
an address does not know are passed over. A method that an address does not have is answered with 405 and the
header \`Allow\`.`
