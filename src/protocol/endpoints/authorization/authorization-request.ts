import type { AuthorizationRequest, Prompt } from '../../../model/authorization-request.ts'
import type { Client } from '../../../model/client.ts'
import { OAuthError } from '../../../model/oauth-error.ts'
import {
  anyParameter,
  type JsonSchema,
  merged,
  type Parameters,
} from '../../../model/parameters.ts'
import { registeredUri } from '../../../model/redirect-uri.ts'
import { type ResponseType, responseTypeNamed, returnsCode } from '../../../model/response-type.ts'
import { narrow } from '../../../model/scope.ts'
import { stateProblem } from '../../../model/state-length.ts'
import type { ClientLookup } from '../../client-lookup.ts'
import type { ReferredRequest } from '../../plug-ins/extension.ts'
import type { ServerContext } from '../../server-context.ts'
import { supportedResponseTypes } from '../token/supported.ts'
import { RefusedRedirect } from './refused-redirect.ts'
import { responseModeFor } from './response-mode.ts'

/** Returns the parameters of an authorization request, including the parameters of the enabled extensions. */
export const authorizationParameters = (
  server: Pick<ServerContext, 'extensions' | 'grants' | 'settings'>,
): Readonly<Record<string, JsonSchema>> =>
  merged([
    ['client_id', 'redirect_uri', 'scope', 'state', 'prompt', 'ui_locales'],
    {
      response_type: {
        ...anyParameter,
        description: `One of: ${supportedResponseTypes(server).join(', ')}.`,
      },
      response_mode: { ...anyParameter, description: 'query, fragment or form_post.' },
    },
    ...server.extensions.map(({ authorizationParameters = [] }) => authorizationParameters),
  ])

/** Parameters that the server refuses, or that some clients send although the server does not need them. */
const otherParameters = ['request', 'request_uri', 'iss', 'client_secret']
const prompts: readonly Prompt[] = ['none', 'login', 'consent', 'select_account']
const maxUiLocalesLength = 500

/**
 * Returns the stored request or the request object to which the parameters refer. Without a reference, returns the
 * parameters themselves.
 * @throws OAuthError if the reference is invalid. The server shows this error instead of redirecting
 */
export const referredTo = async (
  params: Parameters,
  server: ServerContext,
  lookup: Pick<ClientLookup, 'address'>,
): Promise<ReferredRequest> => {
  for (const extension of server.extensions) {
    const found = await extension.onAuthorizationParameters?.(params, server, lookup)
    if (found) return found
  }
  return { params }
}

/** A request whose client and redirect URI are valid, so that errors may be sent to the client. */
export interface ProvenRedirect {
  readonly client: Client
  readonly redirectUri: string
  readonly redirectUriGiven: boolean
  readonly responseType: string | undefined
  readonly responseMode: string | undefined
  readonly state: string | undefined
}

/**
 * Validates the client and the redirect URI. If either is invalid, the server must not redirect.
 * @param lookup the IP address of the sender
 * @throws OAuthError, which the server must show instead of redirecting (RFC 6749 §4.1.2.1)
 */
export const proveRedirect = async (
  params: Parameters,
  server: ServerContext,
  lookup: Pick<ClientLookup, 'address'> = {},
): Promise<ProvenRedirect> => {
  params.refuseRepeated(() => [...Object.keys(authorizationParameters(server)), ...otherParameters])
  const client = await server.getClient(params.required('client_id'), {
    ...lookup,
    forAuthorization: true,
  })
  if (!client) throw new OAuthError('invalid_request', 'The client is unknown.')
  if (!client.isActive) throw new RefusedRedirect(client, undefined, 'The client is unknown.')
  const given = redirectUriIn(params, client)
  const redirectUri =
    given === undefined
      ? onlyOne(server.settings.requireRedirectUri ? [] : client.redirectUris)
      : registeredUri(client, given)
  if (redirectUri === undefined) {
    const description = 'redirect_uri is missing, or not registered for this client.'
    server.refusals.note(client, {
      error: 'invalid_request',
      description,
      ...(given !== undefined && { redirectUri: given }),
    })
    throw new RefusedRedirect(client, given, description)
  }
  return {
    client,
    // Use the requested URI, because its port may differ from the registered port if the host is a loopback address.
    redirectUri: given ?? redirectUri,
    redirectUriGiven: given !== undefined,
    responseType: params.opaque('response_type'),
    responseMode: params.opaque('response_mode'),
    state: params.opaque('state'),
  }
}

// Parsing fails for a URI with control characters. The error stores this URI for the owner of the client. The error
// message does not contain the URI, because every visitor sees the message.
const redirectUriIn = (params: Parameters, client: Client): string | undefined => {
  try {
    return params.optional('redirect_uri')
  } catch (error) {
    const [given, ...more] = params.repeated('redirect_uri')
    if (!(error instanceof OAuthError) || more.length > 0) throw error
    throw new RefusedRedirect(client, given, error.message)
  }
}

const onlyOne = (uris: readonly string[]): string | undefined =>
  uris.length === 1 ? uris[0] : undefined

/**
 * Validates all parameters except the client and the redirect URI.
 * @throws OAuthError, which the caller sends to the redirect URI
 */
export const validateRequest = (
  { client, redirectUri, redirectUriGiven, state }: ProvenRedirect,
  params: Parameters,
  server: ServerContext,
): AuthorizationRequest => {
  const problem = stateProblem(state)
  if (problem !== undefined) throw new OAuthError('invalid_request', problem)
  if (params.optional('request') !== undefined)
    throw new OAuthError('request_not_supported', 'request is not supported.')
  if (params.optional('request_uri') !== undefined) {
    throw new OAuthError('request_uri_not_supported', 'request_uri is not supported.')
  }
  const responseType = responseTypeOf(params.required('response_type'), client, server)
  const responseMode = responseModeFor(params.optional('response_mode'), responseType)
  const requested = narrow(scopeParameter(params), {
    within: client.scopeCeiling,
    otherwise: client.scopesWhenOmitted,
  })
  const scopes = amended(requested, params, { client, responseType }, server)
  return {
    clientId: client.clientId,
    responseType,
    responseMode,
    redirectUri,
    redirectUriGiven,
    scopes,
    state,
    prompt: promptOf(params.optional('prompt')),
    uiLocales: params.opaque('ui_locales')?.slice(0, maxUiLocalesLength),
    extensions: remembered(params, { client, responseType, scopes }, server),
  }
}

// Reads the scope without validation, so that invalid characters cause `invalid_scope` (RFC 6749 §4.1.2.1).
const scopeParameter = (params: Parameters): string | undefined => params.opaque('scope')

const responseTypeOf = (text: string, client: Client, server: ServerContext): ResponseType => {
  const type = responseTypeNamed(text)
  if (!type || !supportedResponseTypes(server).includes(type))
    throw new OAuthError('unsupported_response_type', 'The response type is not supported.')
  const mayUseGrant = !returnsCode(type) || client.allowedGrantTypes.includes('authorization_code')
  if (!client.allowedResponseTypes.includes(type) || !mayUseGrant) {
    throw new OAuthError('unauthorized_client', 'The client may not use this response type.')
  }
  return type
}

const promptOf = (text: string | undefined): readonly Prompt[] => {
  const words = new Set((text ?? '').split(' ').filter((word) => word !== ''))
  if (words.has('none') && words.size > 1) {
    throw new OAuthError('invalid_request', 'prompt=none cannot be combined with another prompt.')
  }
  return prompts.filter((prompt) => words.has(prompt))
}

interface OfClient {
  readonly client: Client
  readonly responseType: ResponseType
}

const amended = (
  requested: readonly string[],
  params: Parameters,
  request: OfClient,
  server: ServerContext,
): readonly string[] =>
  server.extensions.reduce(
    (scopes, extension) => extension.onRequestedScopes?.(scopes, params, request, server) ?? scopes,
    requested,
  )

const remembered = (
  params: Parameters,
  request: OfClient & Pick<AuthorizationRequest, 'scopes'>,
  server: ServerContext,
): Readonly<Record<string, unknown>> => {
  const entries = server.extensions.map((extension) => [
    extension.name,
    extension.onAuthorizationRequest?.(params, request, server),
  ])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}
