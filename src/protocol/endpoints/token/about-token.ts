import type { HttpRequest } from '../../../http/request.ts'
import type { Client } from '../../../model/client.ts'
import { OAuthError } from '../../../model/oauth-error.ts'
import { authenticateClient } from '../../client-authentication/authenticate-client.ts'
import type { ServerContext } from '../../server-context.ts'

/** A client that authenticated, and a token that it asks something about. */
export interface AboutToken {
  readonly client: Client
  /** As it was sent: what is no token at all is an unknown one. */
  readonly token: string
}

/**
 * Reads a request about a token: the same form at revocation (RFC 7009 §2.1) and introspection (RFC 7662 §2.1).
 * The hint is not read, since tokens of both kinds are looked up by an index.
 * @throws OAuthError `invalid_client` before anything else is looked at, `invalid_request` without a token
 */
export const readAboutToken = async (
  request: HttpRequest,
  server: ServerContext,
): Promise<AboutToken> => {
  const params = await request.form()
  params.refuseRepeated(() => [
    'token',
    'token_type_hint',
    ...server.clientAuthentication.flatMap(({ parameters }) => parameters),
  ])
  const client = await authenticateClient(request, params, server)
  const token = params.opaque('token')
  if (token === undefined) throw new OAuthError('invalid_request', 'token is missing.')
  return { client, token }
}

const ofTokenEndpoint = /^token_endpoint_/

/**
 * How clients authenticate at another endpoint than the token endpoint: by the same methods, but for some.
 * RFC 8414 §2
 */
export const authenticationMetadata = (
  endpoint: 'revocation_endpoint' | 'introspection_endpoint',
  methods: ServerContext['clientAuthentication'],
): Readonly<Record<string, unknown>> => {
  const further = Object.entries(Object.assign({}, ...methods.map(({ metadata }) => metadata)))
  return {
    [`${endpoint}_auth_methods_supported`]: methods.map(({ name }) => name),
    ...Object.fromEntries(
      further
        .filter(([name]) => ofTokenEndpoint.test(name))
        .map(([name, value]) => [name.replace(ofTokenEndpoint, `${endpoint}_`), value]),
    ),
  }
}
