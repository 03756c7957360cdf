import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAuthorizationServer, Scope, type StoreOpener } from 'svc-oauth2server'
import { chain, mount, requireApiAuth, rest } from 'svc-oauth2server/node'

const redirectUri = 'https://client.example/cb'

/** Runs a request of a kind. */
export type Around = (kind: string, send: () => Promise<unknown>) => Promise<void>

/** A server with a user, a remembered consent and a client that sends each kind of request. */
export interface Requests extends AsyncDisposable {
  /** Sends one request of each kind. */
  send(around: Around): Promise<void>
}

export const requestsTo = async (
  store: StoreOpener,
  { tokenExchange }: { readonly tokenExchange: boolean },
): Promise<Requests> => {
  const issuer = 'http://localhost:3000'
  const server = await createAuthorizationServer({
    issuer,
    secretKeys: [randomBytes(48).toString('base64')],
    store,
    scopes: [new Scope('notes:read')],
    openidConnect: true,
    introspection: true,
    deviceAuthorization: true,
    tokenExchange,
    sweepInterval: 0,
    log: () => undefined,
  })
  const http = createServer(
    chain(mount(server), rest(server), requireApiAuth(), (_request, response) => {
      response.end('{}')
    }),
  )
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const { id } = await server.users.create({ email: 'ada@example.org', password: null })
  const browser = { address: '', userAgent: 'test', cookie: null, raw: undefined }
  const [cookie = ''] = (await server.sessions.signIn(id, browser)).split(';')
  const { client, clientSecret } = await server.clients.create({
    name: 'Notes',
    userId: id,
    redirectUris: [redirectUri],
    openid: { id_token_signed_response_alg: 'ES256' },
  })
  await server.consents.grant(id, client.clientId, ['openid', 'notes:read'])
  const authorization = `Basic ${Buffer.from(`${client.clientId}:${clientSecret}`).toString('base64')}`
  const post = async (path: string, form: Record<string, string>, status = 200) => {
    const response = await fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { authorization },
      body: new URLSearchParams(form),
    })
    assert.equal(response.status, status)
    return response.headers.get('content-length') === '0'
      ? {}
      : ((await response.json()) as Record<string, string>)
  }
  const request = (form: Record<string, string>, status?: number) =>
    post('/oauth/token', form, status)
  let code = ''
  let tokens: Record<string, string> = {}
  const authorize = async (scope: string) => {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: redirectUri,
      scope,
    })
    const headers = { cookie, 'user-agent': browser.userAgent }
    const response = await server.fetch(
      new Request(`${issuer}/oauth/authorize?${query}`, { headers }),
    )
    code = URL.parse(response.headers.get('location') ?? '')?.searchParams.get('code') ?? ''
    assert.ok(code)
  }
  const exchange = async () => {
    tokens = await request({ grant_type: 'authorization_code', code, redirect_uri: redirectUri })
  }
  return {
    async send(around) {
      await around('authorize', () => authorize('notes:read'))
      await around('code exchange', exchange)
      const { access_token: token = '', refresh_token = '' } = tokens
      await around('introspection', () => post('/oauth/introspect', { token }))
      await around('bearer check', () =>
        fetch(`${origin}/notes`, { headers: { authorization: `Bearer ${token}` } }),
      )
      await around('refresh', () => request({ grant_type: 'refresh_token', refresh_token }))
      await around('client_credentials', () => request({ grant_type: 'client_credentials' }))
      await authorize('openid notes:read')
      await around('code exchange with an ID token', exchange)
      const subject_token = tokens.access_token ?? ''
      const exchanged = () =>
        request({
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          subject_token,
          subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        })
      if (tokenExchange) await around('token exchange', exchanged)
      await around('revocation', () => post('/oauth/revoke', { token: subject_token }))
      const { device_code = '' } = await post('/oauth/device_authorization', {})
      await around('device polling', () =>
        request({ grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code }, 400),
      )
    },
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => {
        http.close(resolve)
        http.closeAllConnections()
      })
      await server.close()
    },
  }
}
