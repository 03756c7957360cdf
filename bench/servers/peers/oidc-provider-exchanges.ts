// oidc-provider, for the measurement of code exchanges.
import { generateKeyPairSync } from 'node:crypto'
import Provider, { type ClientMetadata } from 'oidc-provider'
import { type ExchangeName, exchangeNames, redirectUri, scopeOf } from '../../support/exchanges.ts'
import { place } from '../../support/serve.ts'
import { serveExchanges } from '../../support/serve-exchanges.ts'
import { inMemory, inPostgres } from './oidc-provider-stores.ts'

const clientSecret = 'a-secret-of-the-client-32-bytes-and-more'
const clientOf = (name: ExchangeName): ClientMetadata => ({
  client_id: name,
  client_secret: clientSecret,
  grant_types: ['authorization_code', 'refresh_token'],
  redirect_uris: [redirectUri],
  scope: 'openid offline_access notes:read',
  id_token_signed_response_alg: name === 'ES256' ? 'ES256' : 'RS256',
})
const keys = [
  generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  generateKeyPairSync('rsa', { modulusLength: 2048 }),
].map(({ privateKey }) => ({ ...privateKey.export({ format: 'jwk' }), use: 'sig' }))

const provider = new Provider('http://localhost:3000', {
  adapter: place.kind === 'postgres' ? await inPostgres() : inMemory(),
  clients: exchangeNames.map(clientOf),
  scopes: ['openid', 'offline_access', 'notes:read'],
  features: { devInteractions: { enabled: false } },
  pkce: { required: () => false },
  // Issue a refresh token for each code, as svc-oauth2server does.
  issueRefreshToken: async () => true,
  rotateRefreshToken: true,
  findAccount: (_context, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
  cookies: { keys: ['a key for cookies, 32 bytes and more'] },
  jwks: { keys },
  ttl: {
    AuthorizationCode: 600,
    AccessToken: 3600,
    Grant: 30 * 86_400,
    RefreshToken: 30 * 86_400,
    IdToken: 3600,
  },
})

await serveExchanges({
  listener: provider.callback(),
  token: '/token',
  clientOf: async (name) => ({ clientId: name, clientSecret }),
  async newCode(name) {
    const client = await provider.Client.find(name)
    if (!client) throw new Error('There is no client.')
    const grant = new provider.Grant({ accountId: 'user', clientId: name })
    grant.addOIDCScope(scopeOf(name))
    return new provider.AuthorizationCode({
      accountId: 'user',
      client,
      grantId: await grant.save(),
      gty: 'authorization_code',
      scope: scopeOf(name),
      redirectUri,
      nonce: 'n',
      authTime: Math.floor(Date.now() / 1000),
      claims: {},
    }).save()
  },
})
