import type { HttpRequest } from '../../http/request.ts'
import type { Client } from '../../model/client.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import { type JsonSchema, merged, type Parameters } from '../../model/parameters.ts'
import { recallClient } from '../../records/clients/client-rows.ts'
import type { ClientLookup } from '../client-lookup.ts'
import type { ClientCredentials } from '../plug-ins/client-authentication-method.ts'
import type { ClientAuthenticationMethod } from '../plug-ins.ts'
import type { PlugIns, ServerContext, Throttling } from '../server-context.ts'

// These error descriptions do not reveal whether a client exists or why a credential is wrong.
const namesNoClient =
  'The request names no client. Send client_id, and the credential of the client if it has one.'
const lacksCredential =
  'The client is unknown, or must authenticate: the request contains no credential that this server accepts.'
const wrongCredential = 'The client is unknown, or could not be authenticated.'

/** The parts of a request that client authentication uses. */
type Sender = Pick<HttpRequest, 'header' | 'address'>

/** The client authentication method that a request uses, with the presented credentials. */
interface PresentedCredentials {
  readonly method: ClientAuthenticationMethod
  readonly credentials: ClientCredentials
}

/**
 * Authenticates the client that sent a request, by exactly one method. RFC 6749 §2.3, §3.2.1.
 * @param params the form of the request
 * @param alongside a function that starts other look-ups, which run concurrently with the look-up of the client
 * @throws OAuthError `invalid_client`; `invalid_request`, for instance if the request uses two methods; 429 after too
 * many failures; `temporarily_unavailable` if the server cannot fetch the keys of the client
 */
export const authenticateClient = async (
  http: Sender,
  params: Parameters,
  server: ServerContext,
  alongside?: () => void,
): Promise<Client> => {
  // Only the owner of the client and administrators see this description. The response does not contain the description.
  const noteRefusal = (client: Client, description: string) =>
    server.refusals.note(client, { error: 'invalid_client', description })
  const { method, credentials } = credentialsIn(http, params, server)
  const { clientId } = credentials
  const { address } = http
  const { getClient } = server
  const lookup: ClientLookup = { address }
  checkWrongSecrets(http, clientId, server)
  alongside?.()
  const client = await getClient(clientId, lookup)
  // Verify credentials for unknown clients too, so that the response time does not reveal which clients exist.
  const proven = method.proves(credentials, client, server, lookup)
  const isProven = await Promise.resolve(proven).catch(async (error: unknown) => {
    if (!(error instanceof OAuthError) || error.code !== 'invalid_client') throw error
    await countWrongSecret(http, clientId, client, server)
    if (client) noteRefusal(client, error.message)
    throw error
  })
  if (!isProven || !client?.isActive) {
    await countWrongSecret(http, clientId, client, server)
    if (client && !isProven) noteRefusal(client, `The credentials for ${method.name} are wrong.`)
    const sentence = credentials.proof === undefined ? lacksCredential : wrongCredential
    throw refused(http, server, sentence)
  }
  if (!isMethodOf(client, method)) {
    noteRefusal(client, `The client must use another method than ${method.name}.`)
    throw refused(http, server)
  }
  return client
}

/**
 * Authenticates a client with the record that is in the memory of this process. Does not count failures.
 * @returns the client and the version of the record; undefined if the caller has to look up the current record
 * @throws OAuthError for a request with invalid or missing credentials, and after too many failures
 */
export const recallAuthenticated = async (
  http: Sender,
  params: Parameters,
  server: ServerContext,
): Promise<ReturnType<typeof recallClient>> => {
  const { method, credentials } = credentialsIn(http, params, server)
  if (!method.isRepeatable) return undefined
  const recalled = recallClient(credentials.clientId, server.records)
  if (!recalled?.client.isActive || !isMethodOf(recalled.client, method)) return undefined
  checkWrongSecrets(http, credentials.clientId, server)
  const isProven = await method.proves(credentials, recalled.client, server, {})
  return isProven ? recalled : undefined
}

/** Refuses a sender after too many failures of `countWrongSecret`. @throws OAuthError 429 */
export const checkWrongSecrets = (
  { address }: Pick<Sender, 'address'>,
  clientId: string,
  { limits }: Throttling,
): void => {
  limits.check('wrongSecrets', address)
  limits.check('wrongSecretsOfClient', address, clientId)
}

/** Counts a wrong secret, a refused assertion or a refused request object. */
export const countWrongSecret = async (
  { address }: Pick<Sender, 'address'>,
  clientId: string,
  client: Client | undefined,
  { limits }: Throttling,
): Promise<void> => {
  // Don't count failures for unknown clients: an attacker could create unlimited counters.
  await Promise.all([
    limits.countFailure('wrongSecrets', address),
    client && limits.countFailure('wrongSecretsOfClient', address, clientId),
  ])
}

const isMethodOf = (
  { tokenEndpointAuthMethod }: Client,
  { name }: ClientAuthenticationMethod,
): boolean => tokenEndpointAuthMethod === null || tokenEndpointAuthMethod === name

const refused = (http: Sender, { issuer }: ServerContext, sentence = wrongCredential): OAuthError =>
  new OAuthError('invalid_client', sentence, {
    headers:
      http.header('authorization') === null
        ? {}
        : { 'www-authenticate': `Basic realm="${issuer}", charset="UTF-8"` },
  })

const credentialsIn = (
  http: Sender,
  params: Parameters,
  server: ServerContext,
): PresentedCredentials => {
  const authorization = http.header('authorization')
  // Several headers arrive joined by commas (RFC 9110 §5.3), and no credential contains a comma.
  if (authorization?.includes(','))
    throw refused(http, server, 'Send exactly one Authorization header.')
  let method: ClientAuthenticationMethod | undefined
  let credentials: ClientCredentials | undefined
  for (const candidate of server.clientAuthentication) {
    const presented = presentedBy(candidate, authorization, params, () => refused(http, server))
    if (!presented) continue
    if (method)
      throw new OAuthError('invalid_request', 'The client authenticates by more than one method.')
    method = candidate
    credentials = presented
  }
  const named = params.optional('client_id')
  if (!method || !credentials)
    throw refused(http, server, named === undefined ? namesNoClient : lacksCredential)
  if (named !== undefined && named !== credentials.clientId) {
    throw new OAuthError('invalid_request', 'client_id is not the authenticated client.')
  }
  return { method, credentials }
}

const presentedBy = (
  method: ClientAuthenticationMethod,
  authorization: string | null,
  params: Parameters,
  refused: () => OAuthError,
) => {
  try {
    return method.presented(authorization, params)
  } catch (error) {
    if (error instanceof OAuthError && error.code === 'invalid_client') throw refused()
    throw error
  }
}

/** Returns the parameters with which a client can authenticate. */
export const credentialParameters = ({
  clientAuthentication,
}: Pick<PlugIns, 'clientAuthentication'>): Readonly<Record<string, JsonSchema>> =>
  merged(clientAuthentication.map(({ parameters }) => parameters))
