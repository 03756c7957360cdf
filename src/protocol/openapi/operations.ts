import type { JsonSchema } from '../../model/parameters.ts'
import type { Operation } from '../plug-ins/operation.ts'
import { namedResponse, responseOf } from './responses.ts'
import { named, type Part, type Parts, type Schema, text } from './schema.ts'
import { byClient, byToken } from './security.ts'

/** What an operation of the protocol states itself. */
type Own = Pick<Operation, 'operationId' | 'summary'>

/** Returns the schema of a form that may contain further fields. */
export const formSchema = (
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): Part => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: {},
  ...('client_secret' in properties && { dependentRequired: { client_secret: ['client_id'] } }),
})

/** Describes the body of a form. */
export const formBody = (schema: Schema): Part => ({
  required: true,
  content: { 'application/x-www-form-urlencoded': { schema } },
})

/** Describes a request of a client, which authenticates by a header or in the form. */
export const clientOperation = (
  own: Own & Required<Pick<Operation, 'requestBody' | 'responses'>>,
): Operation => ({
  ...own,
  tags: ['protocol'],
  security: byClient,
  responses: {
    400: responseOf('A parameter is missing or not valid.', named('Problem')),
    401: responseOf('The client is unknown, or its authentication failed.', named('Problem'), {
      'WWW-Authenticate': {
        description: 'A challenge, if the client used the Basic scheme.',
        schema: text,
      },
    }),
    413: namedResponse('TooLarge'),
    503: namedResponse('Unavailable'),
    default: otherError,
    ...own.responses,
  },
})

/** The response to a request that is refused for a reason that the description of the operation does not name. */
export const otherError = responseOf(
  'Another error, for example too many requests.',
  named('Problem'),
)

/** Describes a request with an access token. */
export const tokenOperation = (own: Own, description: string, schema: Schema): Operation => ({
  ...own,
  tags: ['protocol'],
  security: byToken,
  responses: {
    200: responseOf(description, schema),
    400: namedResponse('BadTokenRequest'),
    401: namedResponse('InvalidToken'),
    403: namedResponse('Forbidden'),
    503: namedResponse('Unavailable'),
  },
})

/** Describes a GET request for public metadata. */
export const metadataOperation = (own: Own, responses: Parts): { readonly get: Operation } => ({
  get: { ...own, tags: ['metadata'], security: [], responses },
})
