import type { HttpRequest } from '../../../http/request.ts'
import type { Client } from '../../../model/client.ts'
import { OAuthError } from '../../../model/oauth-error.ts'
import { type JsonSchema, plainParameter } from '../../../model/parameters.ts'
import {
  authenticateClient,
  credentialParameters,
} from '../../client-authentication/authenticate-client.ts'
import { formBody, formSchema } from '../../openapi/operations.ts'
import { required } from '../../openapi/schema.ts'
import type { PlugIns, ServerContext } from '../../server-context.ts'

/** An authenticated client and the token of its request. */
export interface AboutToken {
  readonly client: Client
  /** The unverified value of the parameter `token`. */
  readonly token: string
}

/**
 * Reads a revocation request (RFC 7009 §2.1) or an introspection request (RFC 7662 §2.1). Ignores `token_type_hint`,
 * because the server looks up both access tokens and refresh tokens.
 * @param alongside a function that begins the look-up of the token while the client is authenticated
 * @throws OAuthError `invalid_client`, or `invalid_request` if the token is missing
 */
export const readAboutToken = async (
  request: HttpRequest,
  server: ServerContext,
  alongside?: (token: string) => void,
): Promise<AboutToken> => {
  const params = await request.form()
  params.refuseRepeated(() => Object.keys(parametersFor(server)))
  const client = await authenticateClient(request, params, server, () => {
    const [given] = params.repeated('token')
    if (given) alongside?.(given)
  })
  const token = params.opaque('token')
  if (token === undefined) throw new OAuthError('invalid_request', 'token is missing.')
  return { client, token }
}

const parametersFor = (server: PlugIns): Readonly<Record<string, JsonSchema>> => ({
  token: required(plainParameter),
  token_type_hint: plainParameter,
  ...credentialParameters(server),
})

/** Describes the form of the request. */
export const aboutTokenBody = (server: PlugIns) =>
  formBody(formSchema(parametersFor(server), ['token']))

const tokenEndpointPrefix = /^token_endpoint_/

/** Returns the metadata of client authentication at the revocation or introspection endpoint. RFC 8414 §2. */
export const authenticationMetadata = (
  endpoint: 'revocation_endpoint' | 'introspection_endpoint',
  methods: ServerContext['clientAuthentication'],
): Readonly<Record<string, unknown>> => {
  const members = Object.entries(Object.assign({}, ...methods.map(({ metadata }) => metadata)))
  return {
    [`${endpoint}_auth_methods_supported`]: methods.map(({ name }) => name),
    ...Object.fromEntries(
      members
        .filter(([name]) => tokenEndpointPrefix.test(name))
        .map(([name, value]) => [name.replace(tokenEndpointPrefix, `${endpoint}_`), value]),
    ),
  }
}
