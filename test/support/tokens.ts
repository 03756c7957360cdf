import type { Client, IssuedToken } from 'svc-oauth2server'
import type { TestServer } from './server.ts'

/** Returns the client with an ID. @throws Error if it does not exist */
export const clientOf = async ({ server }: TestServer, clientId: string): Promise<Client> => {
  const client = await server.clients.find(clientId)
  if (!client) throw new Error(`There is no client ${clientId}.`)
  return client
}

/** Creates an authorization of the user, without a browser. */
export const authorizationOf = async (
  app: TestServer,
  clientId: string,
  { scopes = ['notes:read'] }: { readonly scopes?: readonly string[] } = {},
): Promise<IssuedToken & { readonly refreshToken: string }> => {
  const client = await clientOf(app, clientId)
  const issued = await app.server.tokens.issue({
    type: 'user',
    client,
    subject: app.user,
    scopes,
    refreshable: true,
  })
  return { ...issued, refreshToken: issued.refreshToken ?? '' }
}

/** Sends a token to a protected endpoint. @returns the status of the response */
export const statusOf = async ({ issuer }: TestServer, token: string): Promise<number> => {
  const response = await fetch(`${issuer}/api/me`, {
    headers: { authorization: `Bearer ${token}` },
  })
  await response.body?.cancel()
  return response.status
}
