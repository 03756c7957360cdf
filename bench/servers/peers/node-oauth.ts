// @node-oauth/oauth2-server: https://github.com/node-oauth/node-oauth2-server. The model follows the documentation,
// with a prepared statement for each function that queries the database.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import OAuth2Server from '@node-oauth/oauth2-server'
import { accounts, authorizeQuery, redirectUri } from '../../support/exchanges.ts'
import { basic, form, refreshTokenCount, serve } from '../../support/serve.ts'
import type { Works } from '../../support/works.ts'
import { answer, formOf, notes } from './http.ts'
import { openSql, type Row } from './sql.ts'

const sql = openSql()
await sql.script(`create table if not exists token (
  access_token text primary key, access_expires_at bigint not null, refresh_token text unique, refresh_expires_at bigint,
  scope text not null, client_id text not null, user_id text not null)`)
await sql.script(`create table if not exists code (
  code text primary key, expires_at bigint not null, redirect_uri text not null, scope text not null, client_id text not null,
  user_id text not null, challenge text not null, challenge_method text not null)`)
await sql.script(`create table if not exists client (
  id text primary key, secret_digest text not null, grants text not null, redirect_uris text not null, active integer not null)`)

const clientSecret = 'a-secret-of-the-client-32-bytes-and-more'
const secretDigest = hash('sha256', clientSecret, 'buffer')
const client: OAuth2Server.Client = {
  id: 'bench',
  grants: ['authorization_code', 'client_credentials', 'refresh_token'],
  redirectUris: [redirectUri],
}
const user = { id: 'user' }

// As in the documentation, the client is in memory. With BENCH_CLIENT=read, each request reads it from the database, as
// in svc-oauth2server.
const readsClient = process.env.BENCH_CLIENT === 'read'
await sql.rows(
  `insert into client (id, secret_digest, grants, redirect_uris, active) values ($1, $2, $3, '', 1) on conflict do nothing`,
  [client.id, secretDigest.toString('hex'), [client.grants].flat().join(' ')],
)
const findClient = async (id: string): Promise<[OAuth2Server.Client, Buffer] | undefined> => {
  if (!readsClient) return id === client.id ? [client, secretDigest] : undefined
  const [row] = await sql.rows('select * from client where id = $1 and active = 1', [id])
  if (!row) return undefined
  const found = {
    id: String(row.id),
    grants: String(row.grants).split(' '),
    redirectUris: [redirectUri],
  }
  return [found, Buffer.from(String(row.secret_digest), 'hex')]
}

const dateOf = (value: unknown): Date => new Date(Number(value))
const tokenOf = (row: Row): OAuth2Server.Token => ({
  accessToken: String(row.access_token),
  accessTokenExpiresAt: dateOf(row.access_expires_at),
  scope: String(row.scope).split(' '),
  client,
  user: { id: row.user_id },
})

const insert = `insert into token (access_token, access_expires_at, refresh_token, refresh_expires_at, scope, client_id, user_id)
  values ($1, $2, $3, $4, $5, $6, $7)`

const model: OAuth2Server.AuthorizationCodeModel &
  OAuth2Server.ClientCredentialsModel &
  OAuth2Server.RefreshTokenModel &
  OAuth2Server.RequestAuthenticationModel = {
  async getClient(id, secret) {
    const [found, digest] = (await findClient(id)) ?? []
    // The authorization endpoint does not authenticate the client.
    if (secret === null) return found
    const isRight = digest && timingSafeEqual(hash('sha256', secret ?? '', 'buffer'), digest)
    return found && isRight ? found : false
  },
  async saveAuthorizationCode(code, ofClient, ofUser) {
    await sql.rows(
      `insert into code (code, expires_at, redirect_uri, scope, client_id, user_id, challenge, challenge_method)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        code.authorizationCode,
        code.expiresAt.getTime(),
        code.redirectUri,
        code.scope?.join(' ') ?? '',
        ofClient.id,
        ofUser.id,
        code.codeChallenge ?? '',
        code.codeChallengeMethod ?? '',
      ],
    )
    return { ...code, client: ofClient, user: ofUser }
  },
  async getAuthorizationCode(authorizationCode) {
    const [row] = await sql.rows('select * from code where code = $1', [authorizationCode])
    return (
      row && {
        authorizationCode,
        expiresAt: dateOf(row.expires_at),
        redirectUri: String(row.redirect_uri),
        scope: String(row.scope).split(' '),
        client,
        user: { id: row.user_id },
        codeChallenge: String(row.challenge),
        codeChallengeMethod: String(row.challenge_method),
      }
    )
  },
  async revokeAuthorizationCode({ authorizationCode }) {
    const rows = await sql.rows('delete from code where code = $1 returning 1', [authorizationCode])
    return rows.length > 0
  },
  async getUserFromClient() {
    return user
  },
  async validateScope(_user, _client, scope) {
    return scope?.every((name) => name === 'notes:read') ? scope : ['notes:read']
  },
  async verifyScope(token, scope) {
    return scope.every((name) => token.scope?.includes(name))
  },
  async saveToken(token, ofClient, ofUser) {
    await sql.rows(insert, [
      token.accessToken,
      token.accessTokenExpiresAt?.getTime() ?? null,
      token.refreshToken ?? null,
      token.refreshTokenExpiresAt?.getTime() ?? null,
      token.scope?.join(' ') ?? '',
      ofClient.id,
      ofUser.id,
    ])
    return { ...token, client: ofClient, user: ofUser }
  },
  async getAccessToken(accessToken) {
    const [row] = await sql.rows('select * from token where access_token = $1', [accessToken])
    return row && tokenOf(row)
  },
  async getRefreshToken(refreshToken) {
    const [row] = await sql.rows('select * from token where refresh_token = $1', [refreshToken])
    return (
      row && {
        ...tokenOf(row),
        refreshToken,
        refreshTokenExpiresAt: dateOf(row.refresh_expires_at),
      }
    )
  },
  async revokeToken({ refreshToken }) {
    const rows = await sql.rows('delete from token where refresh_token = $1 returning 1', [
      refreshToken,
    ])
    return rows.length > 0
  },
}

const oauth = new OAuth2Server({
  model,
  accessTokenLifetime: 3600,
  refreshTokenLifetime: 30 * 86_400,
  alwaysIssueNewRefreshToken: true,
})

const random = () => randomBytes(32).toString('hex')
const issue = async (scope: string) => {
  const [accessToken, refreshToken] = [random(), random()]
  const expires = Date.now() + 3_600_000
  const refreshExpires = expires + 30 * 86_400_000
  const values = [accessToken, expires, refreshToken, refreshExpires, scope, client.id, user.id]
  await sql.rows(insert, values)
  return { accessToken, refreshToken }
}
const requestOf = async (request: IncomingMessage) =>
  new OAuth2Server.Request({
    method: request.method ?? 'GET',
    headers: request.headers as Record<string, string>,
    query: Object.fromEntries(new URL(request.url ?? '', 'http://localhost').searchParams),
    body: request.method === 'POST' ? await formOf(request) : {},
  })

const send = (response: ServerResponse, result: OAuth2Server.Response): void => {
  for (const [name, value] of Object.entries(result.headers ?? {})) response.setHeader(name, value)
  answer(response, result.status ?? 200, result.body)
}

/** The library has no sessions and consents, so the cookie names the user. */
const cookieUser = {
  handle: ({ headers }: OAuth2Server.Request) => ({ id: headers?.cookie?.slice('user='.length) }),
}

const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const result = new OAuth2Server.Response()
  try {
    if (request.url === '/token') {
      await oauth.token(await requestOf(request), result)
      return send(response, result)
    }
    if (request.url?.startsWith('/authorize?')) {
      await oauth.authorize(await requestOf(request), result, { authenticateHandler: cookieUser })
      return send(response, result)
    }
    await oauth.authenticate(await requestOf(request), result, { scope: ['notes:read'] })
    answer(response, 200, notes)
  } catch (error) {
    if (!(error instanceof OAuth2Server.OAuthError)) throw error
    answer(response, error.code, { error: error.name })
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
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
