import { constantTimeEqual, digestOf } from '../crypto/digest.ts'
import type { ClientAuthenticationMethod, ServerContext } from '../extension.ts'
import type { Client } from '../model/client.ts'
import type { Parameters } from '../model/parameters.ts'
import { OAuthError } from '../oauth-error.ts'

/**
 * The client that sent a token request, proven by exactly one method. RFC 6749 §2.3, §3.2.1.
 * @throws OAuthError `invalid_client`, or `invalid_request` for two methods at once
 */
export const authenticateClient = async (
  authorization: string | null,
  params: Parameters,
  { clientAuthentication, getClient, issuer, clock }: ServerContext,
): Promise<Client> => {
  const refused = () =>
    new OAuthError('invalid_client', 'The client is unknown, or could not be authenticated.', {
      headers:
        authorization === null
          ? {}
          : { 'www-authenticate': `Basic realm="${issuer}", charset="UTF-8"` },
    })
  const used = clientAuthentication.flatMap((method) => {
    const credentials = presentedBy(method, authorization, params, refused)
    return credentials ? [{ method, credentials }] : []
  })
  const [first, second] = used
  if (!first) throw refused()
  if (second)
    throw new OAuthError('invalid_request', 'The client authenticates by more than one method.')

  const { clientId, clientSecret } = first.credentials
  const named = params.optional('client_id')
  if (named !== undefined && named !== clientId) {
    throw new OAuthError('invalid_request', 'client_id is not the authenticated client.')
  }
  const client = await getClient(clientId)
  if (!proves(client, clientSecret, clock()) || !client?.isActive) throw refused()
  const { tokenEndpointAuthMethod } = client
  if (tokenEndpointAuthMethod !== null && tokenEndpointAuthMethod !== first.method.name)
    throw refused()
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

// An unknown client takes as long as a known one with a wrong secret.
const proves = (client: Client | undefined, secret: string | undefined, now: number): boolean => {
  if (!client) {
    constantTimeEqual(digestOf('client_secret', secret ?? ''), digestOf('client_secret', 'nobody'))
    return false
  }
  if (client.isConfidential) return secret !== undefined && client.checkSecret(secret, now)
  return secret === undefined
}
