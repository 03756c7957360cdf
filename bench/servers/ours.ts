// svc-oauth2server, embedded in bare node:http like the floor.
import { createAuthorizationServer, emailScope, Scope } from 'svc-oauth2server'
import { chain, mount, requireOauthScopes, rest } from 'svc-oauth2server/node'
import { postgres } from 'svc-oauth2server/postgres'
import { sqlite } from 'svc-oauth2server/sqlite'
import {
  accountCount,
  accounts,
  authorizeQuery,
  type Exchange,
  type ExchangeName,
  redirectUri,
  scopesOf,
  userAgent,
} from '../support/exchanges.ts'
import { basic, form, place, refreshTokenCount, serve } from '../support/serve.ts'
import { secretKey, type Works } from '../support/works.ts'

const batch = process.env.BENCH_BATCH !== 'off'
const server = await createAuthorizationServer({
  issuer: 'http://localhost:3000',
  secretKeys: [secretKey],
  store: place.kind === 'postgres' ? postgres(place.at, { batch }) : sqlite(place.at, { batch }),
  scopes: [emailScope, new Scope('notes:read'), new Scope('notes:write')],
  sweepInterval: 0,
  refreshTokenLeeway: 0,
  // All tokens of a measurement have the same user. A lower limit would revoke some of these tokens.
  authorizationsPerApplication: 100_000,
  introspection: true,
  openidConnect: accountCount > 0,
  log: () => undefined,
})

const note = JSON.stringify({ notes: [] })
const app = chain(
  mount(server),
  rest(server),
  requireOauthScopes('notes:read'),
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(note)
  },
)

const signedIn = async (number: number) => {
  const { id } = await server.users.create({ email: `user${number}@example.org`, password: null })
  const browser = { address: '127.0.0.1', userAgent, cookie: null, raw: undefined }
  const [cookie = ''] = (await server.sessions.signIn(id, browser)).split(';')
  return { id, cookie }
}
const exchanges = async (ownerId: number | string) => {
  const users = await Promise.all(accounts().map(signedIn))
  const exchangeOf = async (name: ExchangeName): Promise<Exchange> => {
    const { client, clientSecret } = await server.clients.create({
      name,
      userId: ownerId,
      redirectUris: [redirectUri],
      ...(name !== 'code' && { openid: { id_token_signed_response_alg: name } }),
    })
    for (const { id } of users) await server.consents.grant(id, client.clientId, scopesOf(name))
    return {
      authorize: `/oauth/authorize?${authorizeQuery(name, client.clientId)}`,
      cookies: users.map(({ cookie }) => cookie),
      token: '/oauth/token',
      authorization: basic(client.clientId, clientSecret),
    }
  }
  return { code: await exchangeOf('code'), ES256: await exchangeOf('ES256') }
}

const seed = async (): Promise<Works> => {
  const user = await server.users.create({ email: 'bench@example.org', password: null })
  const { client, clientSecret } = await server.clients.create({
    name: 'Bench',
    userId: user.id,
    redirectUris: ['https://client.example/cb'],
    defaultScopes: ['notes:read'],
  })
  const issue = (scopes: readonly string[]) =>
    server.tokens.issue({ type: 'user', client, subject: user, scopes, refreshable: true })
  const { accessToken } = await issue(['notes:read'])
  const { accessToken: withoutScope } = await issue(['user:email'])
  const keys: string[] = []
  for (let count = 0; count < 100; count += 1) {
    const own = { scopes: ['notes:read'] }
    keys.push((await server.tokens.createPersonal(`Key ${count}`, user.id, own)).accessToken)
  }
  const refreshTokens: string[] = []
  for (let count = 0; count < refreshTokenCount; count += 1) {
    const { refreshToken } = await issue(['notes:read'])
    if (refreshToken) refreshTokens.push(refreshToken)
  }
  const tokens: string[] = []
  for (let count = 0; count < 1000; count += 1)
    tokens.push((await issue(['notes:read'])).accessToken)

  const asClient = { authorization: basic(client.clientId, clientSecret), ...form }
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  return {
    token: {
      method: 'POST',
      path: '/oauth/token',
      headers: asClient,
      body: 'grant_type=client_credentials&scope=notes%3Aread',
      unknown: { ...form, authorization: basic(client.clientId, 'wrong') },
    },
    resource: {
      method: 'GET',
      path: '/notes',
      headers: bearer(accessToken),
      unknown: bearer('unknown'),
      withoutScope: bearer(withoutScope),
    },
    resources: { method: 'GET', path: '/notes', headers: {}, tokens },
    introspect: {
      method: 'POST',
      path: '/oauth/introspect',
      headers: asClient,
      body: `token=${accessToken}&token_type_hint=access_token`,
      unknown: { ...form, authorization: basic(client.clientId, 'wrong') },
    },
    refresh: {
      method: 'POST',
      path: '/oauth/token',
      headers: asClient,
      body: 'grant_type=refresh_token&refresh_token=',
      refreshTokens,
      unknown: { ...form, authorization: basic(client.clientId, 'wrong') },
    },
    key: {
      method: 'GET',
      path: '/notes',
      headers: {},
      tokens: keys,
      unknown: bearer('unknown'),
    },
    ...(accountCount > 0 && { exchanges: await exchanges(user.id) }),
  }
}

await serve(app, seed)
