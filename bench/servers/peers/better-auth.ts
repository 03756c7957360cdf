// better-auth with its plugins for OAuth and API keys: https://www.better-auth.com. The handler of better-auth serves
// the endpoints. The resource calls the API of the plugin in the process, without a request to the introspection
// endpoint.
import type { RequestListener } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { apiKey } from '@better-auth/api-key'
import { getOAuthProviderApi, oauthProvider } from '@better-auth/oauth-provider'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { toNodeHandler } from 'better-auth/node'
import { jwt } from 'better-auth/plugins'
import pg from 'pg'
import {
  accounts,
  authorizeQuery,
  type Exchange,
  type ExchangeName,
  redirectUri,
  scopesOf,
} from '../../support/exchanges.ts'
import { basic, form, place, refreshTokenCount, serve } from '../../support/serve.ts'
import type { Works } from '../../support/works.ts'
import { answer, bearerOf, notes } from './http.ts'

const inSqlite = () => {
  const database = new DatabaseSync(place.at, { timeout: 1000 })
  database.exec('pragma journal_mode = wal; pragma synchronous = normal')
  return database
}

const scopes = ['openid', 'offline_access', 'notes:read', 'notes:write']
/** The IDs of the clients that the plugin may cache. `seed` adds the ID of the measured client. */
const trusted = new Set<string>()
const provider = oauthProvider({
  loginPage: '/login',
  consentPage: '/consent',
  scopes,
  cachedTrustedClients: trusted,
  // Allow every change, because only this process creates clients.
  clientPrivileges: () => true,
  silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
})
const auth = betterAuth({
  baseURL: 'http://localhost:3000',
  secret: 'a secret key for measurements, 32 bytes and more',
  database:
    place.kind === 'postgres' ? new pg.Pool({ connectionString: place.at, max: 10 }) : inSqlite(),
  emailAndPassword: { enabled: true },
  disabledPaths: ['/token'],
  plugins: [
    jwt({ jwks: { keyPairConfig: { alg: 'ES256' } } }),
    provider,
    apiKey({ rateLimit: { enabled: false }, deferUpdates: true }),
  ],
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  logger: { disabled: true },
})
await (await getMigrations(auth.options)).runMigrations()

type Context = Parameters<typeof getOAuthProviderApi>[0]
// Pass only those parts of a request context that the API of the plugin needs.
const context = {
  context: await auth.$context,
  headers: new Headers(),
  json: (body: unknown) => body,
} as unknown as Context
const api = getOAuthProviderApi(context, provider.options, 'authorization_code')

const scopeOf = async (token: string): Promise<string | undefined> => {
  try {
    return String((await api.requireActiveAccessToken(token)).scope)
  } catch (error) {
    if (error instanceof Error && 'statusCode' in error && error.statusCode === 401)
      return undefined
    throw error
  }
}

const handler = toNodeHandler(auth)
const respond: RequestListener = async (request, response) => {
  if (request.url === '/notes') {
    const scope = await scopeOf(bearerOf(request) ?? '')
    if (scope === undefined) return answer(response, 401, { error: 'invalid_token' })
    if (!scope.split(' ').includes('notes:read'))
      return answer(response, 403, { error: 'insufficient_scope' })
    return answer(response, 200, notes)
  }
  if (request.url === '/notes-by-key') {
    const { valid } = await auth.api.verifyApiKey({
      body: { key: bearerOf(request) ?? '', permissions: { notes: ['read'] } },
    })
    return valid ? answer(response, 200, notes) : answer(response, 401, { error: 'invalid_key' })
  }
  return handler(request, response)
}

const signUp = async (name: string) => {
  const body = { name, email: `${name}@example.org`, password: 'correct horse battery staple' }
  const { headers, response } = await auth.api.signUpEmail({ body, returnHeaders: true })
  const cookie = headers.getSetCookie().map((set) => set.split(';', 1)[0])
  return { user: response.user, headers: new Headers({ cookie: cookie.join('; ') }) }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const seed = async (): Promise<Works> => {
  const { user, headers } = await signUp('bench')
  // Issue the first refresh token to a separate user. `check` reuses this token, and better-auth then revokes all
  // refresh tokens of its user.
  const { user: another } = await signUp('another')
  const { client_id, client_secret = '' } = await auth.api.adminCreateOAuthClient({
    headers,
    body: {
      client_name: 'Bench',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'client_credentials', 'refresh_token'],
      scope: scopes.join(' '),
      client_credentials_scopes: ['notes:read', 'notes:write'],
      token_endpoint_auth_method: 'client_secret_basic',
    },
  })
  trusted.add(client_id)
  const client = await api.getClient(client_id)
  if (!client) throw new Error('There is no client.')
  const issue = (scope: string, ofUser = user) =>
    api.issueTokens({ client, user: ofUser, scopes: ['offline_access', scope] })
  const { access_token: accessToken } = await issue('notes:read')
  const { access_token: withoutScope } = await issue('notes:write')
  const refreshTokens: string[] = []
  for (let count = 0; count < refreshTokenCount; count += 1) {
    const { refresh_token } = await issue('notes:read', count === 0 ? another : user)
    if (refresh_token) refreshTokens.push(refresh_token)
  }
  const keys: string[] = []
  for (let count = 0; count < 100; count += 1) {
    const body = { name: `Key ${count}`, userId: user.id, permissions: { notes: ['read'] } }
    keys.push((await auth.api.createApiKey({ body })).key)
  }

  const cookies: string[] = []
  const withRefresh = (name: ExchangeName) => [...scopesOf(name), 'offline_access']
  for (const number of accounts()) {
    const account = await signUp(`user${number}`)
    cookies.push(account.headers.get('cookie') ?? '')
    const [at, userId] = [new Date(), account.user.id]
    const consent = {
      clientId: client_id,
      userId,
      scopes: withRefresh('ES256'),
      createdAt: at,
      updatedAt: at,
    }
    await context.context.adapter.create({ model: 'oauthConsent', data: consent })
  }
  // This plugin issues a refresh token only with the scope offline_access.
  const exchange = (name: ExchangeName): Exchange => ({
    authorize: `/api/auth/oauth2/authorize?${authorizeQuery(name, client_id, { scope: withRefresh(name).join(' ') })}`,
    cookies,
    token: '/api/auth/oauth2/token',
    authorization: basic(client_id, client_secret),
  })

  const asClient = { authorization: basic(client_id, client_secret), ...form }
  const unknown = { authorization: basic(client_id, 'wrong'), ...form }
  return {
    exchanges: { code: exchange('code'), ES256: exchange('ES256') },
    token: {
      method: 'POST',
      path: '/api/auth/oauth2/token',
      headers: asClient,
      body: 'grant_type=client_credentials&scope=notes%3Aread',
      unknown,
    },
    resource: {
      method: 'GET',
      path: '/notes',
      headers: bearer(accessToken),
      unknown: bearer('unknown'),
      withoutScope: bearer(withoutScope),
    },
    introspect: {
      method: 'POST',
      path: '/api/auth/oauth2/introspect',
      headers: asClient,
      body: `token=${accessToken}&token_type_hint=access_token`,
      unknown,
    },
    refresh: {
      method: 'POST',
      path: '/api/auth/oauth2/token',
      headers: asClient,
      body: 'grant_type=refresh_token&refresh_token=',
      refreshTokens,
      unknown,
    },
    key: {
      method: 'GET',
      path: '/notes-by-key',
      headers: {},
      tokens: keys,
      unknown: bearer('unknown'),
    },
  }
}

await serve(respond, seed)
