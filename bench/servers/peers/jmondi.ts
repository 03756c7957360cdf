// @jmondi/oauth2-server: https://tsoauth2server.com. Its access tokens are always JWTs, here signed with HS256.
// The database contains each issued token, and the resource looks up each presented token to refuse revoked tokens.
// Refresh tokens are opaque.
import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  AuthorizationServer,
  generateRandomToken,
  JwtService,
  type OAuthAuthCodeRepository,
  type OAuthClient,
  OAuthException,
  OAuthRequest,
  type OAuthScope,
  type OAuthToken,
  type OAuthTokenRepository,
  type ResponseInterface,
} from '@jmondi/oauth2-server'
import { accounts, authorizeQuery, redirectUri } from '../../support/exchanges.ts'
import { basic, form, refreshTokenCount, serve } from '../../support/serve.ts'
import type { Works } from '../../support/works.ts'
import { answer, bearerOf, formOf, notes } from './http.ts'
import { openSql, type Row } from './sql.ts'

const sql = openSql()
await sql.script(`create table if not exists token (
  access_token text primary key, access_expires_at bigint not null, refresh_token text unique, refresh_expires_at bigint,
  scopes text not null, client_id text not null, user_id text)`)

await sql.script(`create table if not exists code (
  code text primary key, expires_at bigint not null, redirect_uri text, scopes text not null, client_id text not null,
  user_id text, challenge text, challenge_method text)`)

const clientSecret = 'a-secret-of-the-client-32-bytes-and-more'
const secretDigest = hash('sha256', clientSecret, 'buffer')
const scopes: readonly OAuthScope[] = [{ name: 'notes:read' }, { name: 'notes:write' }]
const client: OAuthClient = {
  id: 'bench',
  name: 'Bench',
  secret: secretDigest.toString('hex'),
  redirectUris: [redirectUri],
  allowedGrants: ['authorization_code', 'client_credentials', 'refresh_token'],
  scopes: [...scopes],
}

const lifetime = 3_600_000
const refreshLifetime = 30 * 86_400_000

const tokenOf = (row: Row | undefined): OAuthToken => {
  if (!row) throw OAuthException.badRequest('The token is unknown.')
  return {
    accessToken: String(row.access_token),
    accessTokenExpiresAt: new Date(Number(row.access_expires_at)),
    refreshToken: row.refresh_token === null ? null : String(row.refresh_token),
    refreshTokenExpiresAt:
      row.refresh_expires_at === null ? null : new Date(Number(row.refresh_expires_at)),
    scopes: String(row.scopes)
      .split(' ')
      .map((name) => ({ name })),
    client,
    user: row.user_id === null ? null : { id: String(row.user_id) },
  }
}

const tokens = {
  async issueToken(ofClient, ofScopes, user) {
    return {
      accessToken: generateRandomToken(),
      accessTokenExpiresAt: new Date(Date.now() + lifetime),
      client: ofClient,
      user: user ?? null,
      scopes: ofScopes,
    }
  },
  async issueRefreshToken(token) {
    const refreshToken = generateRandomToken()
    const refreshTokenExpiresAt = new Date(Date.now() + refreshLifetime)
    await sql.rows(
      'update token set refresh_token = $1, refresh_expires_at = $2 where access_token = $3',
      [refreshToken, refreshTokenExpiresAt.getTime(), token.accessToken],
    )
    return { ...token, refreshToken, refreshTokenExpiresAt }
  },
  async persist(token) {
    await sql.rows(
      `insert into token (access_token, access_expires_at, refresh_token, refresh_expires_at, scopes, client_id, user_id)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [
        token.accessToken,
        token.accessTokenExpiresAt.getTime(),
        token.refreshToken ?? null,
        token.refreshTokenExpiresAt?.getTime() ?? null,
        token.scopes.map(({ name }) => name).join(' '),
        token.client.id,
        token.user ? String(token.user.id) : null,
      ],
    )
  },
  async revoke(token) {
    await sql.rows(
      'update token set access_expires_at = 0, refresh_expires_at = 0 where access_token = $1',
      [token.accessToken],
    )
  },
  async isRefreshTokenRevoked({ refreshTokenExpiresAt }) {
    return Date.now() > (refreshTokenExpiresAt?.getTime() ?? 0)
  },
  async getByRefreshToken(refreshToken) {
    const [row] = await sql.rows('select * from token where refresh_token = $1', [refreshToken])
    return tokenOf(row)
  },
  async getByAccessToken(accessToken) {
    const [row] = await sql.rows('select * from token where access_token = $1', [accessToken])
    return tokenOf(row)
  },
} satisfies OAuthTokenRepository

const codes = {
  async issueAuthCode(ofClient, user, ofScopes) {
    const expiresAt = new Date(Date.now() + 600_000)
    return { code: generateRandomToken(), expiresAt, client: ofClient, user, scopes: ofScopes }
  },
  async persist(code) {
    await sql.rows(
      `insert into code (code, expires_at, redirect_uri, scopes, client_id, user_id, challenge, challenge_method)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        code.code,
        code.expiresAt.getTime(),
        code.redirectUri ?? null,
        code.scopes.map(({ name }) => name).join(' '),
        code.client.id,
        code.user ? String(code.user.id) : null,
        code.codeChallenge ?? null,
        code.codeChallengeMethod ?? null,
      ],
    )
  },
  async getByIdentifier(code) {
    const [row] = await sql.rows('select * from code where code = $1', [code])
    if (!row) throw OAuthException.badRequest('The code is unknown.')
    return {
      code,
      expiresAt: new Date(Number(row.expires_at)),
      redirectUri: String(row.redirect_uri),
      scopes: String(row.scopes)
        .split(' ')
        .map((name) => ({ name })),
      client,
      user: { id: String(row.user_id) },
      codeChallenge: String(row.challenge),
      codeChallengeMethod: row.challenge_method as 'S256',
    }
  },
  async isRevoked(code) {
    const rows = await sql.rows('select 1 from code where code = $1', [code])
    return rows.length === 0
  },
  async revoke(code) {
    await sql.rows('delete from code where code = $1', [code])
  },
} satisfies OAuthAuthCodeRepository

const jwt = new JwtService('a secret key for measurements, 32 bytes and more')
const server = new AuthorizationServer(
  {
    async getByIdentifier(id) {
      if (id !== client.id) throw OAuthException.invalidClient()
      return client
    },
    async isClientValid(grant, { allowedGrants }, secret) {
      const isRight = timingSafeEqual(hash('sha256', secret ?? '', 'buffer'), secretDigest)
      return isRight && allowedGrants.includes(grant)
    },
  },
  tokens,
  {
    async getAllByIdentifiers(names) {
      return scopes.filter(({ name }) => names.includes(name))
    },
    async finalize(request) {
      return request
    },
  },
  jwt,
  { useOpaqueRefreshTokens: true },
)
server.enableGrantTypes('client_credentials', 'refresh_token', {
  grant: 'authorization_code',
  authCodeRepository: codes,
  userRepository: { getUserByCredentials: async (id) => ({ id }) },
})

const requestOf = async (request: IncomingMessage) =>
  new OAuthRequest({
    headers: request.headers,
    body: request.method === 'POST' ? await formOf(request) : {},
    query: Object.fromEntries(new URL(request.url ?? '', 'http://localhost').searchParams),
  })

const send = (response: ServerResponse, { status, body, headers }: ResponseInterface): void => {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, String(value))
  answer(response, status, body)
}

/** Returns the stored token if its signature is valid and it has not expired. */
const storedToken = async (presented: string): Promise<OAuthToken | undefined> => {
  try {
    const { jti } = await jwt.verify(presented)
    const token = await tokens.getByAccessToken(String(jti))
    return token.accessTokenExpiresAt.getTime() > Date.now() ? token : undefined
  } catch {
    return undefined
  }
}

const guard = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const token = await storedToken(bearerOf(request) ?? '')
  if (!token) return answer(response, 401, { error: 'invalid_token' })
  const isAllowed = token.scopes.some(({ name }) => name === 'notes:read')
  if (!isAllowed) return answer(response, 403, { error: 'insufficient_scope' })
  answer(response, 200, notes)
}

const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  try {
    if (request.url === '/token')
      return send(response, await server.respondToAccessTokenRequest(await requestOf(request)))
    if (request.url?.startsWith('/authorize?')) {
      const asked = await server.validateAuthorizationRequest(await requestOf(request))
      // The library has no sessions and consents, so the cookie names the user.
      asked.user = { id: String(request.headers.cookie?.slice('user='.length)) }
      asked.isAuthorizationApproved = true
      return send(response, await server.completeAuthorizationRequest(asked))
    }
    if (request.url === '/token/introspect')
      return send(response, await server.introspect(await requestOf(request)))
    await guard(request, response)
  } catch (error) {
    if (!(error instanceof OAuthException)) throw error
    answer(response, error.status, { error: error.errorType })
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const grant = server.getGrant('refresh_token') as unknown as {
  makeBearerTokenResponse(
    ofClient: OAuthClient,
    token: OAuthToken,
    ofScopes: OAuthScope[],
  ): Promise<ResponseInterface>
}
const issue = async (scope: string) => {
  const issued = await tokens.issueToken(client, [{ name: scope }], { id: 'user' })
  await tokens.persist(issued)
  const token = await tokens.issueRefreshToken(issued)
  const { body } = await grant.makeBearerTokenResponse(client, token, token.scopes)
  return { accessToken: String(body.access_token), refreshToken: token.refreshToken }
}
const seed = async (): Promise<Works> => {
  const { accessToken } = await issue('notes:read')
  const { accessToken: withoutScope } = await issue('notes:write')
  const refreshTokens: string[] = []
  for (let count = 0; count < refreshTokenCount; count += 1)
    refreshTokens.push((await issue('notes:read')).refreshToken)

  const asClient = { authorization: basic(client.id, clientSecret), ...form }
  const unknown = { authorization: basic(client.id, 'wrong'), ...form }
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
      path: '/token/introspect',
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
    exchanges: {
      code: {
        authorize: `/authorize?${authorizeQuery('code', client.id)}`,
        cookies: accounts().map((number) => `user=user${number}`),
        token: '/token',
        authorization: basic(client.id, clientSecret),
      },
    },
  }
}

await serve(respond, seed)
