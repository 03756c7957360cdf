import type { AuthorizationServer, UserId } from 'svc-oauth2server'
import { beginSession, type Device } from './browser-session.ts'

/** The credentials of a registered client, and one of its redirect URIs. */
export interface Registered {
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUri: string
}

/** Consents as a user, and then sends the token request as the client. @returns the access token */
export const authorize = async (
  server: AuthorizationServer,
  userId: UserId,
  device: Device,
  client: Registered,
  scopes: readonly string[],
): Promise<string> => {
  const cookie = await beginSession(server, userId, device)
  const send = (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = {
      cookie: `${cookie.name}=${cookie.value}`,
      'user-agent': device.userAgent,
      ...init.headers,
    }
    const request = new Request(`${server.issuer}${path}`, { ...init, headers })
    return server.fetch(request, { remoteAddress: device.address })
  }
  const post = (path: string, fields: Record<string, string>, headers = {}): Promise<Response> =>
    send(path, { method: 'POST', body: new URLSearchParams(fields), headers })

  const { clientId, clientSecret, redirectUri } = client
  const request = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
  })
  const authorization = await send(`/oauth/authorize?${request}`)
  const page = await authorization.text()
  const hidden = (name: string): string =>
    new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? ''
  const response = authorization.headers.has('location')
    ? authorization
    : await post('/oauth/authorize', {
        csrf_token: hidden('csrf_token'),
        authorization_request: hidden('authorization_request'),
        confirm: 'yes',
      })
  const code = new URL(response.headers.get('location') ?? '').searchParams.get('code') ?? ''
  const tokens = await post(
    '/oauth/token',
    { grant_type: 'authorization_code', code, redirect_uri: redirectUri },
    { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
  )
  const { access_token: accessToken } = (await tokens.json()) as { access_token?: string }
  if (accessToken === undefined) throw new Error(`${clientId} received no token.`)
  return accessToken
}
