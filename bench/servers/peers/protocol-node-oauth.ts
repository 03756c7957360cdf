// @node-oauth/oauth2-server for `npm run test:differential`: stores data in memory, as in the documentation. The
// library does not provide endpoints for revocation, introspection and metadata.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import OAuth2Server from '@node-oauth/oauth2-server'
import { textOf } from './http.ts'

interface Registered {
  readonly name: string
  readonly secret: string | null
  readonly redirectUris: readonly string[]
  readonly grantTypes: readonly string[]
}

const registered: readonly Registered[] = JSON.parse(process.env.DIFFERENTIAL_CLIENTS ?? '[]')
const user = { id: 'user' }
const known = ['notes:read', 'notes:write']

const clientOf = ({ name, redirectUris, grantTypes }: Registered): OAuth2Server.Client => ({
  id: name,
  grants: [...grantTypes],
  redirectUris: [...redirectUris],
})
const codes = new Map<string, OAuth2Server.AuthorizationCode>()
const tokens = new Map<string, OAuth2Server.Token>()
const refreshTokens = new Map<string, OAuth2Server.RefreshToken>()

const validScope = (scope?: readonly string[]) => {
  if (!scope || scope.length === 0) return ['notes:read']
  return scope.every((name) => known.includes(name)) ? [...scope] : false
}

const model = {
  async getClient(id: string, secret?: string | null) {
    const found = registered.find(({ name }) => name === id)
    if (!found || (secret && found.secret !== secret)) return false
    return clientOf(found)
  },
  async getUserFromClient() {
    return user
  },
  async validateScope(_user: unknown, _client: unknown, scope?: string[]) {
    return validScope(scope)
  },
  async saveAuthorizationCode(
    code: OAuth2Server.AuthorizationCode,
    client: OAuth2Server.Client,
    owner: OAuth2Server.User,
  ) {
    const saved = { ...code, client, user: owner }
    codes.set(code.authorizationCode, saved)
    return saved
  },
  async getAuthorizationCode(code: string) {
    return codes.get(code)
  },
  async revokeAuthorizationCode({ authorizationCode }: OAuth2Server.AuthorizationCode) {
    return codes.delete(authorizationCode)
  },
  async saveToken(
    token: OAuth2Server.Token,
    client: OAuth2Server.Client,
    owner: OAuth2Server.User,
  ) {
    const saved = { ...token, client, user: owner }
    tokens.set(token.accessToken, saved)
    if (token.refreshToken)
      refreshTokens.set(token.refreshToken, saved as OAuth2Server.RefreshToken)
    return saved
  },
  async getAccessToken(token: string) {
    return tokens.get(token)
  },
  async getRefreshToken(token: string) {
    return refreshTokens.get(token)
  },
  async revokeToken({ refreshToken }: OAuth2Server.RefreshToken) {
    return refreshTokens.delete(refreshToken)
  },
}
const oauth = new OAuth2Server({
  model: model as never,
  requireClientAuthentication: {},
  authenticateHandler: { handle: () => user },
} as never)
const isPublic = (id: string | undefined): boolean =>
  registered.some(({ name, secret }) => name === id && secret === null)

const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const isForm = /^application\/x-www-form-urlencoded/.test(request.headers['content-type'] ?? '')
  const text = await textOf(request)
  const body = isForm ? Object.fromEntries(new URLSearchParams(text)) : {}
  const oauthRequest = new OAuth2Server.Request({
    method: request.method ?? 'GET',
    headers: request.headers as Record<string, string>,
    query: Object.fromEntries(searchParams),
    body,
  })
  const result = new OAuth2Server.Response()
  try {
    if (pathname === '/authorize') {
      await oauth.authorize(oauthRequest, result, { authenticateHandler: { handle: () => user } })
    } else if (pathname === '/token') {
      // Set this option for each request: it applies to all clients, but only public clients may omit authentication.
      const isOpen = isPublic(body.client_id)
      const requireClientAuthentication: Record<string, boolean> = isOpen
        ? { authorization_code: false, refresh_token: false }
        : {}
      await oauth.token(oauthRequest, result, {
        requireClientAuthentication,
        alwaysIssueNewRefreshToken: true,
      })
    } else {
      response.writeHead(404).end()
      return
    }
  } catch (error) {
    // An error that the library sends to the client with a redirect is already in the result.
    if (!result.headers?.location && error instanceof OAuth2Server.OAuthError) {
      result.status = error.code
      result.body = { error: error.name, error_description: error.message }
    } else if (!result.headers?.location) throw error
  }
  response.writeHead(result.status ?? 200, {
    'content-type': 'application/json',
    ...(result.headers as Record<string, string>),
  })
  response.end(JSON.stringify(result.body ?? {}))
}

const http = createServer((request, response) => {
  respond(request, response).catch((error) => {
    response.writeHead(500).end(String(error))
  })
})
await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
process.on('disconnect', () => process.exit())
process.send?.({
  port: (http.address() as AddressInfo).port,
  authorize: '/authorize',
  token: '/token',
  revoke: null,
  introspect: null,
  metadata: null,
})
