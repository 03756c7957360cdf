// RFC 9101: JWT-Secured Authorization Request (JAR), OpenID Connect Core 1.0 §6
import { sha256 } from '../../crypto/digest.ts'
import { signatureAlgorithms } from '../../crypto/jose.ts'
import { OutboundFailed } from '../../http/outbound/outbound.ts'
import { type Client, hasImposed } from '../../model/client.ts'
import { keptMetadata } from '../../model/client-metadata.ts'
import { ExpiredRequest, OAuthError } from '../../model/oauth-error.ts'
import { withoutFragment } from '../../model/openid-client-metadata.ts'
import { anyParameter, type Parameters } from '../../model/parameters.ts'
import {
  checkWrongSecrets,
  countWrongSecret,
} from '../client-authentication/authenticate-client.ts'
import { clockSkew } from '../client-authentication/client-jwt.ts'
import type { ClientLookup } from '../client-lookup.ts'
import { timeToLogIn } from '../endpoints/authorization/time-to-log-in.ts'
import type { ReferredRequest } from '../plug-ins/extension.ts'
import type { Extension } from '../plug-ins.ts'
import { type Accepted, acceptedClaims } from '../request-objects/claims.ts'
import { parametersIn } from '../request-objects/parameters-in.ts'
import type { Environment, Keys, ServerContext } from '../server-context.ts'
import { openHeld, sealHeld } from '../session/held-values.ts'

/** The claims that identify a request object with `jti`. The server accepts this object only once. */
interface UsedOnce {
  readonly clientId: string
  readonly jti: string
  /** Seconds since the epoch. */
  readonly exp: number
}

const pushedReference = 'urn:ietf:params:oauth:request_uri:'
const document = {
  accept: ['application/oauth-authz-req+jwt', 'application/jwt'],
  largest: 16_384,
}
/** The parameter that records when the server first read the request object. */
const firstRead = 'request_object_read'
/** The parameter of a pushed request that records that the client signed the request. */
const signedRequest = 'signed_request_object'

// The parameters of signed request objects, and of request objects that are accepted once. A client could forge a
// parameter that marks the request as signed, but not an entry of these collections.
const signed = new WeakSet<Parameters>()
const once = new WeakMap<Parameters, UsedOnce>()

const read = async (
  sent: Parameters,
  server: ServerContext,
  { address = '' }: Pick<ClientLookup, 'address'>,
): Promise<ReferredRequest | undefined> => {
  const given = { request: sent.opaque('request'), requestUri: sent.opaque('request_uri') }
  const isPushed = given.requestUri?.startsWith(pushedReference) ?? true
  if (given.request === undefined && isPushed) return undefined
  const lookup = { address, forAuthorization: true }
  const client = await server.getClient(sent.required('client_id'), lookup)
  // `proveRedirect` refuses an unknown or inactive client before it uses other parameters.
  if (!client?.isActive) return undefined
  checkWrongSecrets({ address }, client.clientId, server)
  try {
    const jwt = await objectOf(given, client, server, address)
    const at = firstReadAt(sent, jwt, server)
    const accepted = await acceptedClaims({ jwt, client, at, address }, server)
    const params = parametersIn(accepted.claims)
    checkResponseType(sent, params)
    await note(params, accepted, client, server)
    const mayExpire = accepted.claims.exp !== undefined
    return { params, ...(mayExpire && { added: recorded(at, jwt, server) }) }
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    // A stranger can make the server verify signatures in vain.
    if (error.code === 'invalid_request_object')
      await countWrongSecret({ address }, client.clientId, client, server)
    return { params: sent, refusal: error }
  }
}

interface Given {
  readonly request: string | undefined
  readonly requestUri: string | undefined
}

const objectOf = async (
  { request, requestUri }: Given,
  client: Client,
  server: ServerContext,
  address: string,
): Promise<string> => {
  if (request === undefined) return fetched(requestUri ?? '', client, server, address)
  if (requestUri === undefined) return request
  throw new OAuthError('invalid_request', 'Send either request or request_uri, not both.')
}

/** Records whether a request object was signed and is accepted only once. @throws OAuthError if it was used before */
const note = async (
  params: Parameters,
  { claims: { jti, exp }, isSigned }: Accepted,
  { clientId }: Client,
  server: ServerContext,
): Promise<void> => {
  if (isSigned) signed.add(params)
  if (jti === undefined || exp === undefined) return
  const use = { clientId, jti, exp }
  if (await uses(server).get(nameOf(use))) throw used()
  once.set(params, use)
}

/** Fetches a request object from a registered address. OpenID Connect Core §6.2, RFC 9101 §10.4. */
const fetched = async (
  requestUri: string,
  client: Client,
  { outbound, limits }: ServerContext,
  address: string,
): Promise<string> => {
  const url = withoutFragment(requestUri)
  const { request_uris: registered = [] } = keptMetadata(client)
  if (!registered.some((one) => withoutFragment(one) === url))
    throw new OAuthError('invalid_request_uri', 'request_uri is not registered for this client.')
  try {
    return await outbound.text({
      ...document,
      url,
      read: (text) => text.trim(),
      // Never use a cached document. Clients announce new content by a new fragment (§6.2), but `url` has no fragment.
      maxAge: 0,
      requester: address,
      purpose: 'request object',
      beforeSending: () => limits.consume('clientDocuments', address),
    })
  } catch (error) {
    if (!(error instanceof OutboundFailed)) throw error
    const sentence = `The request object at request_uri could not be fetched: ${error.message}`
    throw new OAuthError('invalid_request_uri', sentence, { cause: error })
  }
}

// The server ignores parameters outside the request object (RFC 9101 §6.3), but `response_type` must match (OpenID
// Connect Core §6.1).
const checkResponseType = (sent: Parameters, params: Parameters): void => {
  const outside = sent.opaque('response_type')
  if (outside !== undefined && outside !== params.opaque('response_type'))
    throw new OAuthError(
      'invalid_request',
      'response_type must have the same value inside and outside the request object.',
    )
}

// The browser repeats the request after the login. The request object may expire in the meantime, so the URL contains
// the sealed time at which the object was valid.
const recorded = (
  at: number,
  jwt: string,
  server: Keys & Environment,
): Readonly<Record<string, string>> => {
  const value = { at, until: at + timeToLogIn }
  return { [firstRead]: sealHeld(firstRead, [sha256(jwt)], value, server) }
}

const firstReadAt = (sent: Parameters, jwt: string, server: Keys & Environment): number => {
  const [sealed] = sent.repeated(firstRead)
  const value = openHeld<{ readonly at: number }>(firstRead, [sha256(jwt)], sealed, server)
  return value?.at ?? server.clock()
}

const clientIdIn = (params: Parameters): string => params.opaque('client_id') ?? ''

/** Returns whether the client signed the request, or pushed a request that it signed. */
const isSigned = (params: Parameters, server: Keys & Environment): boolean => {
  const [sealed] = params.repeated(signedRequest)
  const mark = openHeld(signedRequest, [clientIdIn(params)], sealed, server)
  return signed.has(params) || mark !== undefined
}

const uses = (server: ServerContext) => server.transientValues<true>('request_object')

const nameOf = ({ clientId, jti }: UsedOnce): string => JSON.stringify([clientId, jti])

const used = (): OAuthError =>
  new ExpiredRequest(
    'The request object was already used: a jti is accepted only once.',
    'invalid_request_object',
  )

/** Records the use of a request object with `jti`. @throws OAuthError if the object was already used */
const useOnce = async (use: UsedOnce, server: ServerContext): Promise<void> => {
  const expiresAt = (use.exp + clockSkew) * 1000 + timeToLogIn
  const sender = { clientId: use.clientId, address: '' }
  if (!(await uses(server).claimOnce(nameOf(use), true, expiresAt, sender))) throw used()
}

/** Lets a client send its authorization request as a JWT, by value or by reference. */
export const requestObjects: Extension = {
  name: 'request-objects',
  isOn: (settings) => settings.requestObjects,
  authorizationParameters: {
    request: {
      ...anyParameter,
      description: 'A request object: a JWT that contains the other parameters (RFC 9101).',
    },
    request_uri: { ...anyParameter, description: 'The registered address of a request object.' },
  },
  // `none` is not listed, because only clients that registered `none` may use it.
  metadata: ({ settings }) => ({
    request_parameter_supported: true,
    request_uri_parameter_supported: true,
    require_request_uri_registration: true,
    request_object_signing_alg_values_supported: signatureAlgorithms(settings),
  }),
  onAuthorizationParameters: read,

  async onPushedRequest(params, _http, server) {
    const use = once.get(params)
    if (use) await useOnce(use, server)
    if (!signed.has(params)) return {}
    // The stored request contains the mark. Such a request lives for less than twice this time.
    const value = { until: server.clock() + 2 * timeToLogIn }
    return { [signedRequest]: sealHeld(signedRequest, [clientIdIn(params)], value, server) }
  },

  // RFC 9101 §10.5
  onAuthorizationRequest(params, { client }, server): UsedOnce | undefined {
    if (hasImposed(client, 'require_signed_request_object') && !isSigned(params, server))
      throw new OAuthError('invalid_request', 'The client must sign its authorization requests.')
    return once.get(params)
  },

  // Record the use when the user decides, because users may reload the consent page.
  async onAuthorizationResponse(server, answered) {
    const use = answered?.[requestObjects.name]
    if (use) await useOnce(use as UsedOnce, server)
    return {}
  },
}
