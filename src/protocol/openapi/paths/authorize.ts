import { z } from 'zod'
import { text as anyText } from '../../../pages/shapes/shape.ts'
import type { Described } from '../described.ts'
import { location } from '../responses.ts'
import { inQuery, named, type Part, type Parts, text } from '../schema.ts'
import { schemaOf } from '../shape.ts'

const page = { 'text/html': { schema: text } }

const responses: Parts = {
  200: { description: 'The consent page.', content: page },
  303: {
    description:
      'A redirect to the client with the authorization response, to the login, or to the error page if the client or its redirect URI is unknown.',
    headers: location,
  },
  default: {
    description: 'The reason for the refusal, as a page or as JSON.',
    content: { ...page, 'application/json': { schema: named('Problem') } },
  },
}

// The schemas require no parameter, because an invalid request also results in one of the responses above, such as a
// redirect to the client with an error (RFC 6749 §4.1.2.1).
const parameters: Readonly<Record<string, z.ZodType>> = {
  client_id: anyText,
  response_type: anyText,
  redirect_uri: anyText,
  scope: anyText,
  state: anyText,
  response_mode: anyText.describe('query, fragment or form_post.'),
  code_challenge: anyText,
  code_challenge_method: anyText.describe('S256.'),
  prompt: anyText,
  ui_locales: anyText,
}

const requestObject = {
  request: anyText.describe(
    'A request object: a JWT that contains the other parameters (RFC 9101).',
  ),
  request_uri: anyText.describe('The registered address of a request object.'),
}

const decision = {
  confirm: anyText.describe('`yes` or `no`.'),
  authorization_request: anyText,
  csrf_token: anyText,
  optional_scope: z.array(anyText),
}

/** Describes the authorization endpoint, which is for browsers and not for scripts. */
export const authorizationPath = ({ responseTypes, settings }: Described): Part => {
  const described = {
    ...parameters,
    ...(settings.requestObjects && requestObject),
    response_type: anyText.describe(`One of: ${responseTypes.join(', ')}.`),
  }
  const common = { tags: ['protocol'], security: [], responses }
  return {
    get: {
      operationId: 'authorize',
      summary: 'Requests an authorization by the user (RFC 6749 §3.1)',
      ...common,
      parameters: Object.entries(described).map(([name, shape]) =>
        inQuery(
          name,
          'RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect Core §3.1.2.1.',
          schemaOf(shape),
        ),
      ),
    },
    post: {
      operationId: 'authorizeByPost',
      summary: 'Requests an authorization by POST; with `confirm`, sends the user’s decision',
      ...common,
      requestBody: {
        required: false,
        content: {
          'application/x-www-form-urlencoded': {
            schema: schemaOf(z.looseObject({ ...described, ...decision }).partial()),
          },
        },
      },
    },
  }
}
