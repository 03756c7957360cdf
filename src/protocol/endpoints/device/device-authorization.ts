import { z } from 'zod'
import type { Client } from '../../../model/client.ts'
import { OAuthError } from '../../../model/oauth-error.ts'
import {
  type JsonSchema,
  merged,
  namesIn,
  type Parameters,
  plainParameter,
} from '../../../model/parameters.ts'
import { withQuery } from '../../../model/redirect-uri.ts'
import { narrow } from '../../../model/scope.ts'
import { shownUserCode } from '../../../model/user-code.ts'
import { count, text } from '../../../pages/shapes/shape.ts'
import {
  deviceAuthorizations,
  deviceCodeExpiresIn,
  pollInterval,
} from '../../../records/device-authorizations.ts'
import {
  authenticateClient,
  credentialParameters,
} from '../../client-authentication/authenticate-client.ts'
import { deviceCode as deviceCodeGrant } from '../../grants/device-code.ts'
import { clientOperation, formBody, formSchema } from '../../openapi/operations.ts'
import { responseOf } from '../../openapi/responses.ts'
import type { Endpoint, Extension } from '../../plug-ins.ts'
import type { PlugIns, ServerContext } from '../../server-context.ts'
import { jsonResponse } from '../responses/responses.ts'

/** The device authorization endpoint. RFC 8628 §3.1. */
export const deviceAuthorizationEndpoint: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/device_authorization`,
  methods: ['POST'],
  errors: 'json',
  cors: true,
  advertisedAs: 'device_authorization_endpoint',
  async handle(request, server) {
    await server.limits.consume('deviceRequests', request.address)
    const params = await request.form()
    params.refuseRepeated(() => Object.keys(parametersFor(server)))
    const client = await authenticateClient(request, params, server)
    if (!client.allowedGrantTypes.includes(deviceCodeGrant.type))
      throw new OAuthError('unauthorized_client', 'The client may not use this grant type.')
    const scopes = narrow(params.opaque('scope'), {
      within: client.scopeCeiling,
      otherwise: client.scopesWhenOmitted,
    })
    const { deviceCode, userCode } = await deviceAuthorizations(server).begin(
      {
        clientId: client.clientId,
        redirectUri: '',
        redirectUriGiven: false,
        scopes,
        extensions: remembered(params, { client, scopes }, server),
        expiresAt: server.clock() + deviceCodeExpiresIn * 1000,
      },
      request.address,
    )
    const verificationUri = `${server.issuer}${server.settings.oauthPrefix}/device`
    const user_code = shownUserCode(userCode)
    return jsonResponse({
      device_code: deviceCode,
      user_code,
      verification_uri: verificationUri,
      verification_uri_complete: withQuery(verificationUri, { user_code }),
      expires_in: deviceCodeExpiresIn,
      interval: pollInterval,
    })
  },
  describe: (server) => ({
    post: clientOperation({
      operationId: 'authorizeDevice',
      summary: 'Creates codes for a device without a browser (RFC 8628)',
      requestBody: formBody(formSchema(parametersFor(server))),
      responses: {
        200: responseOf(
          'The user code, and the URL at which the user enters it.',
          z.strictObject({
            device_code: text,
            user_code: text,
            verification_uri: text,
            verification_uri_complete: text,
            expires_in: count.describe('Seconds.'),
            interval: count.describe('Seconds between two token requests.'),
          }),
        ),
      },
    }),
  }),
}

const parametersFor = (server: PlugIns): Readonly<Record<string, JsonSchema>> =>
  merged([
    { client_id: plainParameter, scope: plainParameter },
    ...server.extensions.map(({ authorizationParameters = [] }) => authorizationParameters),
    credentialParameters(server),
  ])

// Extensions store values with the request, and check these values when the client redeems the device code.
const remembered = (
  params: Parameters,
  request: { readonly client: Client; readonly scopes: readonly string[] },
  server: ServerContext,
): Readonly<Record<string, unknown>> => {
  const entries = server.extensions
    .filter((extension) => appliesTo(extension, params))
    .map((extension) => [
      extension.name,
      extension.onAuthorizationRequest?.(params, { ...request, responseType: 'code' }, server),
    ])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

// An extension with request parameters, such as PKCE (RFC 7636), applies only if the client sends one of its parameters.
// The server does not require PKCE here, because the device flow has no redirect that an attacker could intercept.
const appliesTo = ({ authorizationParameters = [] }: Extension, params: Parameters): boolean => {
  const names = namesIn(authorizationParameters)
  return names.length === 0 || names.some((name) => params.optional(name) !== undefined)
}
