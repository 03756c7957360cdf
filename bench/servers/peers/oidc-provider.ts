// oidc-provider: https://github.com/panva/node-oidc-provider. The router of oidc-provider serves all endpoints except
// the resource, which looks up the token with the model's `find`, as in the documentation.
import { createHmac, generateKeyPairSync } from 'node:crypto'
import type { RequestListener } from 'node:http'
import Provider from 'oidc-provider'
import {
  accounts,
  authorizeQuery,
  type Exchange,
  type ExchangeName,
  redirectUri,
  scopesOf,
} from '../../support/exchanges.ts'
import { basic, form, refreshTokenCount, serve } from '../../support/serve.ts'
import type { Works } from '../../support/works.ts'
import { answer, bearerOf, notes } from './http.ts'
import { inDatabase, inMemory } from './oidc-provider-stores.ts'

const clientId = 'bench'
const clientSecret = 'a-secret-of-the-client-32-bytes-and-more'
const cookieKey = 'a key for cookies, 32 bytes and more'
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })

const provider = new Provider('http://localhost:3000', {
  adapter: process.env.BENCH_MEMORY === 'on' ? inMemory() : await inDatabase(),
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      grant_types: ['authorization_code', 'client_credentials', 'refresh_token'],
      redirect_uris: [redirectUri],
      scope: 'openid offline_access notes:read notes:write',
      id_token_signed_response_alg: 'ES256',
    },
  ],
  scopes: ['openid', 'offline_access', 'notes:read', 'notes:write'],
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    revocation: { enabled: true },
  },
  // Issue a refresh token for each code, as svc-oauth2server does.
  issueRefreshToken: async () => true,
  rotateRefreshToken: true,
  findAccount: (_context, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
  cookies: { keys: [cookieKey] },
  jwks: { keys: [{ ...key, use: 'sig' }] },
  ttl: {
    AccessToken: 3600,
    AuthorizationCode: 600,
    IdToken: 3600,
    Session: 14 * 86_400,
    ClientCredentials: 3600,
    Grant: 30 * 86_400,
    RefreshToken: 30 * 86_400,
  },
})

const listener = provider.callback()
const respond: RequestListener = async (request, response) => {
  if (request.url !== '/notes') return listener(request, response)
  const value = bearerOf(request) ?? ''
  const token =
    (await provider.AccessToken.find(value)) ?? (await provider.ClientCredentials.find(value))
  if (!token?.isValid) return answer(response, 401, { error: 'invalid_token' })
  if (!token.scopes.has('notes:read')) return answer(response, 403, { error: 'insufficient_scope' })
  answer(response, 200, notes)
}

/** Stores the session of a user with the consent to this client. @returns the cookies of the user */
const signedIn = async (number: number): Promise<string> => {
  const accountId = `user${number}`
  const grant = new provider.Grant({ accountId, clientId })
  grant.addOIDCScope(scopesOf('ES256').join(' '))
  const session = new provider.Session()
  session.loginAccount({ accountId })
  session.ensureClientContainer(clientId)
  session.grantIdFor(clientId, await grant.save())
  await session.save(14 * 86_400)
  const cookie = `_session=${session.jti}`
  const signature = createHmac('sha1', cookieKey).update(cookie).digest('base64url')
  return `${cookie}; _session.sig=${signature}`
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const seed = async (): Promise<Works> => {
  const client = await provider.Client.find(clientId)
  if (!client) throw new Error('There is no client.')
  const about = async (scope: string) => {
    const grant = new provider.Grant({ accountId: 'user', clientId })
    grant.addOIDCScope(scope)
    const grantId = await grant.save()
    return { accountId: 'user', client, grantId, gty: 'authorization_code', scope }
  }
  const accessToken = await new provider.AccessToken(await about('notes:read')).save()
  const withoutScope = await new provider.AccessToken(await about('notes:write')).save()
  const refreshTokens: string[] = []
  for (let count = 0; count < refreshTokenCount; count += 1)
    refreshTokens.push(await new provider.RefreshToken(await about('notes:read')).save())

  const cookies = await Promise.all(accounts().map(signedIn))
  const exchange = (name: ExchangeName): Exchange => ({
    authorize: `/auth?${authorizeQuery(name, clientId)}`,
    cookies,
    token: '/token',
    authorization: basic(clientId, clientSecret),
  })

  const asClient = { authorization: basic(clientId, clientSecret), ...form }
  const unknown = { authorization: basic(clientId, 'wrong'), ...form }
  return {
    token: {
      method: 'POST',
      path: '/token',
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
      path: '/token/introspection',
      headers: asClient,
      body: `token=${accessToken}&token_type_hint=access_token`,
      unknown,
    },
    refresh: {
      method: 'POST',
      path: '/token',
      headers: asClient,
      body: 'grant_type=refresh_token&refresh_token=',
      refreshTokens,
      unknown,
    },
    exchanges: { code: exchange('code'), ES256: exchange('ES256') },
  }
}

await serve(respond, seed)
