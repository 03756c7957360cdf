import type { HttpRequest } from '../../http/request.ts'
import type { Client } from '../../model/client.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type { Parameters } from '../../model/parameters.ts'
import type { ClientLookup } from '../client-lookup.ts'
import type { ClientCredentials } from '../plug-ins/client-authentication-method.ts'
import type { ClientAuthenticationMethod } from '../plug-ins.ts'
import type { ServerContext } from '../server-context.ts'

// The sentences say what the request lacks, and never whether a client exists or which part of a credential is wrong.
const namesNoClient =
  'The request names no client. Send client_id, and the credential of the client if it has one.'
const lacksCredential =
  'The client is unknown, or must authenticate: the request contains no credential that this server accepts.'
const wrongCredential = 'The client is unknown, or could not be authenticated.'

/**
 * Authenticates the client that sent a request, by exactly one method. RFC 6749 §2.3, §3.2.1.
 * @param params the form of the request
 * @throws OAuthError `invalid_client`; `invalid_request` if the request uses two methods; 429 after too many failures
 */
export const authenticateClient = async (
  http: Pick<HttpRequest, 'header' | 'address'>,
  params: Parameters,
  server: ServerContext,
): Promise<Client> => {
  const { address } = http
  const authorization = http.header('authorization')
  const lookup: ClientLookup = { address }
  const { clientAuthentication, getClient, issuer, limits } = server
  const refused = (sentence = wrongCredential) =>
    new OAuthError('invalid_client', sentence, {
      headers:
        authorization === null
          ? {}
          : { 'www-authenticate': `Basic realm="${issuer}", charset="UTF-8"` },
    })
  // Only the owner of the client reads this description. The response never says what was wrong.
  const noteRefusal = (client: Client, description: string) =>
    server.refusals.note(client, { error: 'invalid_client', description })
  let method: ClientAuthenticationMethod | undefined
  let credentials: ClientCredentials | undefined
  for (const candidate of clientAuthentication) {
    const presented = presentedBy(candidate, authorization, params, refused)
    if (!presented) continue
    if (method)
      throw new OAuthError('invalid_request', 'The client authenticates by more than one method.')
    method = candidate
    credentials = presented
  }
  const named = params.optional('client_id')
  if (!method || !credentials) throw refused(named === undefined ? namesNoClient : lacksCredential)

  const { clientId } = credentials
  if (named !== undefined && named !== clientId) {
    throw new OAuthError('invalid_request', 'client_id is not the authenticated client.')
  }
  limits.check('wrongSecrets', address)
  limits.check('wrongSecretsOfClient', address, clientId)
  const client = await getClient(clientId, lookup)
  // Verify credentials for unknown clients too, so that the response time does not reveal which clients exist.
  const isProven = await method.proves(credentials, client, server, lookup)
  if (!isProven || !client?.isActive) {
    // Don't count failures for unknown clients: an attacker could create unlimited counters.
    await Promise.all([
      limits.countFailure('wrongSecrets', address),
      client && limits.countFailure('wrongSecretsOfClient', address, clientId),
    ])
    if (client && !isProven) noteRefusal(client, `The credentials for ${method.name} are wrong.`)
    throw refused(credentials.proof === undefined ? lacksCredential : wrongCredential)
  }
  const { tokenEndpointAuthMethod } = client
  if (tokenEndpointAuthMethod !== null && tokenEndpointAuthMethod !== method.name) {
    noteRefusal(client, `The client must use ${tokenEndpointAuthMethod}, not ${method.name}.`)
    throw refused()
  }
  return client
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
