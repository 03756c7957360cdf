import { z } from 'zod'
import { count, text } from '../../pages/shapes/shape.ts'
import { clientOperation, formBody, formSchema } from '../openapi/operations.ts'
import { responseOf } from '../openapi/responses.ts'
import type { ServerContext, Throttling } from '../server-context.ts'
// RFC 9126: OAuth 2.0 Pushed Authorization Requests

import type { HttpRequest } from '../../http/request.ts'
import { type Client, hasImposed, isTrusted } from '../../model/client.ts'
import { networkOf } from '../../model/network.ts'
import { ExpiredRequest, OAuthError } from '../../model/oauth-error.ts'
import { Parameters } from '../../model/parameters.ts'
import {
  authenticateClient,
  credentialParameters,
} from '../client-authentication/authenticate-client.ts'
import {
  authorizationParameters,
  proveRedirect,
  referredTo,
  validateRequest,
} from '../endpoints/authorization/authorization-request.ts'
import { timeToLogIn } from '../endpoints/authorization/time-to-log-in.ts'
import { jsonResponse, responseHeaders } from '../endpoints/responses/responses.ts'
import type { ReferredRequest } from '../plug-ins/extension.ts'
import type { Endpoint, Extension } from '../plug-ins.ts'

interface PushedRequest {
  readonly clientId: string
  /** `application/x-www-form-urlencoded`, without the client's credentials. */
  readonly form: string
  /** The owner by which the stored requests are counted. */
  readonly sender: string
}

/** A decided request, which the extension stores with the authorization request. */
interface Opened {
  readonly reference: string
  readonly clientId: string
}

/** Seconds within which the browser must open the request. FAPI 2.0 requires less than 600. */
const expiresIn = 540

const urn = 'urn:ietf:params:oauth:request_uri:'
const requestUriSyntax = /^urn:ietf:params:oauth:request_uri:([A-Za-z0-9]{43})$/

/** The parameters with credentials of the client. The stored request omits these parameters. RFC 9126 §2.1. */
const credentials = ['client_secret', 'client_assertion', 'client_assertion_type']

// Contains the parameters of pushed requests. The value is undefined while the client pushes the request. A client could
// forge a parameter that marks the request as pushed, but not an entry of this map.
const pushed = new WeakMap<Parameters, Opened | undefined>()

const pushEndpoint: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/par`,
  methods: ['POST'],
  errors: 'json',
  advertisedAs: 'pushed_authorization_request_endpoint',
  cors: true,
  // RFC 9126 §2.1
  async handle(http, server) {
    const text = await http.formText()
    const given = new Parameters(text)
    given.refuseRepeated(() => Object.keys(credentialParameters(server)))
    const { address } = http
    const client = await authenticateClient(http, given, server)
    await limitRequests(client, http, server)
    if (given.repeated('request_uri').length > 0)
      throw new OAuthError('invalid_request', 'A pushed request must not contain request_uri.')

    const sent = new Parameters(formOf(text, client).toString())
    // A pushed request may contain a request object (§3).
    const { params, refusal } = await referredTo(sent, server, { address })
    if (refusal) throw refusal
    const form = new URLSearchParams(params.text)
    pushed.set(params, undefined)
    validateRequest(await proveRedirect(params, server, { address }), params, server)
    for (const extension of server.extensions) {
      const added = (await extension.onPushedRequest?.(params, http, server)) ?? {}
      for (const [name, value] of Object.entries(added)) form.set(name, value)
    }
    const reference = await storeRequest(client, form, http.address, server)
    const response = { request_uri: `${urn}${reference}`, expires_in: expiresIn }
    return jsonResponse(response, 201, responseHeaders(http, server))
  },
  describe(server) {
    const { request_uri: _, ...parameters } = authorizationParameters(server)
    return {
      post: clientOperation({
        operationId: 'pushAuthorizationRequest',
        summary: 'Stores an authorization request and returns its `request_uri` (RFC 9126)',
        requestBody: formBody(formSchema({ ...parameters, ...credentialParameters(server) })),
        responses: {
          201: responseOf(
            'The request is stored.',
            z.strictObject({ request_uri: text, expires_in: count.describe('Seconds.') }),
          ),
        },
      }),
    }
  },
}

const limitRequests = (
  { clientId, isConfidential }: Client,
  { address }: HttpRequest,
  { limits }: Throttling,
): Promise<void> =>
  isConfidential
    ? limits.consume('pushedRequests', '', clientId)
    : limits.consume('pushedRequestsOfAddress', address, clientId)

const formOf = (text: string, { clientId }: Client): URLSearchParams => {
  const form = new URLSearchParams(text)
  for (const name of credentials) form.delete(name)
  form.set('client_id', clientId)
  return form
}

const storeRequest = (
  client: Client,
  form: URLSearchParams,
  address: string,
  server: ServerContext,
): Promise<string> => {
  const expiresAt = server.clock() + expiresIn * 1000
  const { clientId } = client
  // Anyone can send requests of a public client, and can register any number of clients.
  const isOwn = client.isConfidential && isTrusted(client)
  const sender = (isOwn ? '' : networkOf(address)) || `client ${clientId}`
  return requests(server).put({ clientId, form: form.toString(), sender }, expiresAt, sender)
}

const requests = (server: ServerContext) => server.transientValues<PushedRequest>('pushed_request')

/** The name of a request that a browser opened before its expiry, and that is then stored for `timeToLogIn`. */
const openedName = (reference: string): string => `${reference} opened`

const uses = (server: ServerContext) => server.transientValues<true>('used_pushed_request')

const onlyPushed = 'request_uri must be the reference of a pushed request.'

const unknown = (): OAuthError =>
  new ExpiredRequest(
    'request_uri is unknown, has expired, or was already used. Start again in the application.',
  )

// Loads the request by its reference and the client ID, and ignores the other parameters. Never fetches a URL. RFC 9126 §4.
const load = async (
  params: Parameters,
  server: ServerContext,
): Promise<ReferredRequest | undefined> => {
  const requestUri = params.opaque('request_uri')
  if (requestUri === undefined) return undefined
  if (!requestUri.startsWith(urn)) {
    // If request objects were enabled, that extension would already have processed this URL. With a redirect URI, leave
    // the refusal to `validateRequest`, so that the client receives the error (OpenID Connect Core §3.1.2.6).
    if (params.opaque('redirect_uri') !== undefined) return undefined
    throw new OAuthError('invalid_request', onlyPushed)
  }
  const clientId = params.required('client_id')
  const [, reference] = requestUriSyntax.exec(requestUri) ?? []
  if (!reference) throw unknown()
  const [[pending, opened], isUsed] = await Promise.all([
    requests(server).getMany([reference, openedName(reference)]),
    uses(server).get(reference),
  ])
  const found = opened ?? pending
  if (!found || isUsed || found.clientId !== clientId) throw unknown()
  if (!opened) {
    // The login may take long, and the user may reload the page. The longer period gives nothing to an attacker, who could
    // also have opened the URL in time. Count opened requests separately. They expire later, so they would otherwise
    // displace the requests of the sender that no browser has opened yet.
    const until = server.clock() + timeToLogIn
    await requests(server).set(openedName(reference), found, until, `${found.sender} opened`)
  }
  const stored = new Parameters(found.form)
  pushed.set(stored, { reference, clientId })
  return { params: stored }
}

/** Lets a client send its authorization request directly to the server, where the user cannot read or change it. */
export const pushedAuthorizationRequests: Extension = {
  name: 'pushed-authorization-requests',
  isOn: ({ pushedAuthorizationRequests }) => pushedAuthorizationRequests !== 'off',
  endpoints: [pushEndpoint],
  authorizationParameters: ['request_uri'],
  metadata: ({ settings }) =>
    settings.pushedAuthorizationRequests === 'required'
      ? { require_pushed_authorization_requests: true }
      : {},
  onAuthorizationParameters: load,

  // RFC 9126 §4, §5, §6
  onAuthorizationRequest(params, { client }, { settings }): Opened | undefined {
    const isRequired =
      settings.pushedAuthorizationRequests === 'required' ||
      hasImposed(client, 'require_pushed_authorization_requests')
    if (isRequired && !pushed.has(params))
      throw new OAuthError('invalid_request', 'The client must push its authorization requests.')
    return pushed.get(params)
  },

  // Consume the request when the user decides, because users may reload the consent page. RFC 9126 §7.3.
  async onAuthorizationResponse(server, answered) {
    const opened = answered?.[pushedAuthorizationRequests.name] as Opened | undefined
    if (opened === undefined) return {}
    const { reference, clientId } = opened
    // Do not rely on the deletion of the request, because a concurrent request may store it again.
    const expiresAt = server.clock() + timeToLogIn
    if (!(await uses(server).claimOnce(reference, true, expiresAt, { clientId, address: '' })))
      throw unknown()
    await Promise.all(
      [reference, openedName(reference)].map((name) => requests(server).delete(name)),
    )
    return {}
  },
}
