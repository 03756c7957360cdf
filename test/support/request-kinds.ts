import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
// Programs import the sources too, so that one of them can count their files.
import { chain, mount, requireApiAuth, rest } from '../../src/adapters/node.ts'
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  createAuthorizationServer,
  Scope,
} from '../../src/index.ts'
import type { UserId } from '../../src/model/user.ts'

export const redirectUri = 'https://client.example/cb'

/** Runs a request of a kind. */
export type Around = (kind: string, send: () => Promise<unknown>) => Promise<void>

/** A server with a user, a remembered consent and a client that sends each kind of request. */
export interface Requests extends AsyncDisposable {
  readonly server: AuthorizationServer
  readonly origin: string
  readonly userId: UserId
  readonly clientId: string
  /** The headers of the browser in which the user is logged in. */
  readonly inBrowser: Readonly<Record<string, string>>
  /** Sends one request of each kind. */
  send(around: Around): Promise<void>
}

export const requestsTo = async (
  options: Pick<AuthorizationServerOptions, 'store' | 'openidConnect' | 'tokenExchange'>,
): Promise<Requests> => {
  const { openidConnect = true, tokenExchange } = options
  const issuer = 'http://localhost:3000'
  const server = await createAuthorizationServer({
    issuer,
    secretKeys: [randomBytes(48).toString('base64')],
    scopes: [new Scope('notes:read')],
    introspection: true,
    deviceAuthorization: true,
    ...options,
    openidConnect,
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
  const browser = { address: '127.0.0.1', userAgent: 'test', cookie: null, raw: undefined }
  const [cookie = ''] = (await server.sessions.signIn(id, browser)).split(';')
  const { client, clientSecret } = await server.clients.create({
    name: 'Notes',
    userId: id,
    redirectUris: [redirectUri],
    ...(openidConnect && { openid: { id_token_signed_response_alg: 'ES256' } }),
  })
  const openid = openidConnect ? ['openid'] : []
  await server.consents.grant(id, client.clientId, [...openid, 'notes:read'])
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
  const inBrowser = { cookie, 'user-agent': browser.userAgent }
  let code = ''
  let tokens: Record<string, string> = {}
  const authorize = async (scope: string) => {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: redirectUri,
      scope,
    })
    const response = await fetch(`${origin}/oauth/authorize?${query}`, {
      headers: inBrowser,
      redirect: 'manual',
    })
    code = URL.parse(response.headers.get('location') ?? '')?.searchParams.get('code') ?? ''
    assert.ok(code)
  }
  const exchange = async () => {
    tokens = await request({ grant_type: 'authorization_code', code, redirect_uri: redirectUri })
  }
  return {
    server,
    origin,
    userId: id,
    clientId: client.clientId,
    inBrowser,
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
      await authorize([...openid, 'notes:read'].join(' '))
      if (openidConnect) await around('code exchange with an ID token', exchange)
      else await exchange()
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
