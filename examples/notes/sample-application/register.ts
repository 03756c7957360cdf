import type { AuthorizationServer, UserId } from 'svc-oauth2server'

const name = 'Sample application'

/** The part of the server that registers clients, which is also available in a transaction. */
type Clients = Pick<AuthorizationServer, 'clients'>

/**
 * Registers the sample application for a user. If the user has registered the application before, only adds a missing
 * redirect URI.
 * @returns the client ID
 */
export const registerSample = async (
  { clients }: Clients,
  userId: UserId,
  issuer: string,
): Promise<string> => {
  const redirectUri = callbackOf(issuer)
  const { items } = await clients.ofOwner(userId, { after: null, limit: 100 })
  const known = items.find(({ client }) => client.name === name && !client.isConfidential)?.client
  if (known) {
    // BASE_URL may have changed since the registration. Ignore the port, because the server accepts every port of a
    // registered loopback address.
    if (!known.redirectUris.map(withoutPort).includes(withoutPort(redirectUri)))
      await clients.update(known.clientId, { redirectUris: [...known.redirectUris, redirectUri] })
    return known.clientId
  }
  const { client } = await clients.create({
    name,
    description:
      'Reads your notes and adds one. It shows every step of the authorization code flow.',
    userId,
    // A public client has no secret. PKCE proves that the same program requested and redeems the code.
    isConfidential: false,
    redirectUris: [redirectUri],
    defaultScopes: ['notes:read'],
    optionalScopes: ['notes:write', 'user:email'],
  })
  return client.clientId
}

/** Returns the redirect URI of the sample application. */
export const callbackOf = (issuer: string): string => `${issuer.replace(/\/$/, '')}/sample/callback`

const withoutPort = (uri: string): string =>
  uri.replace(/^(http:\/\/[^/:]+|http:\/\/\[[^\]]+\]):\d+/, '$1')
