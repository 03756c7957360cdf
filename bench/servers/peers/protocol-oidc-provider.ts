// oidc-provider for `npm run test:differential`, with every feature that the cases use. The user always consents.
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type ClientMetadata } from 'oidc-provider'

interface Registered {
  readonly name: string
  readonly secret: string | null
  readonly redirectUris: readonly string[]
  readonly grantTypes: readonly string[]
}

const registered: readonly Registered[] = JSON.parse(process.env.DIFFERENTIAL_CLIENTS ?? '[]')
const scope = 'notes:read notes:write'

const http = createServer()
await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
const { port } = http.address() as AddressInfo

const clients = registered.map(
  ({ name, secret, redirectUris, grantTypes }): ClientMetadata => ({
    client_id: name,
    ...(secret === null
      ? { token_endpoint_auth_method: 'none' }
      : { client_secret: secret, token_endpoint_auth_method: 'client_secret_basic' }),
    grant_types: [...grantTypes],
    response_types: grantTypes.includes('authorization_code') ? ['code'] : [],
    redirect_uris: [...redirectUris],
    application_type: redirectUris.some((uri) => uri.startsWith('http:')) ? 'native' : 'web',
    scope,
    id_token_signed_response_alg: 'ES256',
  }),
)
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })
const provider = new Provider(`http://localhost:${port}`, {
  clients,
  scopes: ['openid', 'offline_access', ...scope.split(' ')],
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    revocation: { enabled: true },
  },
  rotateRefreshToken: true,
  issueRefreshToken: async (_context, client) => client.grantTypeAllowed('refresh_token'),
  findAccount: (_context, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
  cookies: { keys: ['a key for cookies, 32 bytes and more'] },
  jwks: { keys: [{ ...key, use: 'sig' }] },
  interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
})

/** Logs the user in, and grants all requested access. */
const agree: RequestListener = async (request, response) => {
  const { prompt, params, grantId, session } = await provider.interactionDetails(request, response)
  if (prompt.name === 'login') {
    await provider.interactionFinished(request, response, { login: { accountId: 'user' } })
    return
  }
  const grant =
    (grantId === undefined ? undefined : await provider.Grant.find(grantId)) ??
    new provider.Grant({ accountId: session?.accountId, clientId: String(params.client_id) })
  const missing = prompt.details.missingOIDCScope
  if (Array.isArray(missing)) grant.addOIDCScope(missing.join(' '))
  const consent = { grantId: await grant.save() }
  await provider.interactionFinished(
    request,
    response,
    { consent },
    { mergeWithLastSubmission: true },
  )
}

const listener = provider.callback()
http.on('request', (request, response) => {
  if (!request.url?.startsWith('/interaction/')) return listener(request, response)
  Promise.resolve(agree(request, response)).catch((error) => {
    response.statusCode = 500
    response.end(String(error))
  })
})
process.on('disconnect', () => process.exit())
process.send?.({
  port,
  authorize: '/auth',
  token: '/token',
  revoke: '/token/revocation',
  introspect: '/token/introspection',
  metadata: '/.well-known/openid-configuration',
})
