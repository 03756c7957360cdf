import type { Described } from '../described.ts'
import { choice, either, list, named, object, type Part, type Parts, text } from '../schema.ts'
import { inQuery } from './settings-operation.ts'

const page = { 'text/html': { schema: text } }

const responses: Parts = {
  200: { description: 'The consent page.', content: page },
  303: {
    description:
      'To the client with its answer, to the login, or to the error view where the client or its redirect URI is not known.',
    headers: { Location: { description: 'Where to.', schema: text } },
  },
  default: {
    description: 'A page that says why nothing was done; to a script, JSON.',
    content: { ...page, 'application/json': { schema: named('Problem') } },
  },
}

const parametersOf = ({ responseTypes }: Described): Parts => ({
  client_id: text,
  response_type: choice(responseTypes),
  redirect_uri: text,
  scope: text,
  state: text,
  response_mode: choice(['query', 'fragment']),
  code_challenge: text,
  code_challenge_method: choice(['S256']),
  prompt: text,
  ui_locales: text,
})

const required = ['client_id', 'response_type']

/** The authorization endpoint: a browser goes there, and no script. */
export const authorizationPath = (server: Described): Part => {
  const parameters = parametersOf(server)
  const common = { tags: ['protocol'], security: [], responses }
  return {
    get: {
      operationId: 'authorize',
      summary: 'Asks a user for an authorization (RFC 6749 §3.1)',
      ...common,
      parameters: Object.entries(parameters).map(([name, schema]) => ({
        ...inQuery(name, 'RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect Core §3.1.2.1.', schema),
        required: required.includes(name),
      })),
    },
    post: {
      operationId: 'authorizeByPost',
      summary: 'The same by POST; with `confirm`, the decision of the consent page',
      ...common,
      requestBody: {
        required: true,
        content: {
          'application/x-www-form-urlencoded': {
            schema: either({ type: 'object', properties: parameters, required }, decision),
          },
        },
      },
    },
  }
}

const decision = object(
  {
    confirm: choice(['yes', 'no']),
    authorization_request: text,
    csrf_token: text,
    optional_scope: list(text),
  },
  { optional: ['optional_scope'] },
)
