// svc-oauth2server with OpenID Connect, for the measurement of code exchanges.
import assert from 'node:assert/strict'
import { createAuthorizationServer, Scope } from 'svc-oauth2server'
import { chain, mount } from 'svc-oauth2server/node'
import { postgres } from 'svc-oauth2server/postgres'
import { sqlite } from 'svc-oauth2server/sqlite'
import { redirectUri, scopeOf } from '../support/exchanges.ts'
import { place } from '../support/serve.ts'
import { serveExchanges } from '../support/serve-exchanges.ts'
import { secretKey } from '../support/works.ts'

const issuer = 'http://localhost:3000'
const server = await createAuthorizationServer({
  issuer,
  secretKeys: [secretKey],
  store: place.kind === 'postgres' ? postgres(place.at) : sqlite(place.at),
  scopes: [new Scope('notes:read')],
  openidConnect: true,
  authorizationCodeExpiresIn: 600,
  authorizationsPerApplication: 1_000,
  sweepInterval: 0,
  log: () => undefined,
})
const browser = { address: '', userAgent: 'bench', cookie: null, raw: undefined }
const signedIn = async (number: number) => {
  const email = `user${number}@example.org`
  const { id } = await server.users.create({ email, password: null })
  const [cookie = ''] = (await server.sessions.signIn(id, browser)).split(';')
  return { id, headers: { cookie, 'user-agent': browser.userAgent } }
}
// Use several users, because the exchanges of one user wait for each other.
const users = await Promise.all(Array.from({ length: 100 }, (_, number) => signedIn(number)))
const [owner] = users
assert.ok(owner)
let codes = 0

await serveExchanges({
  listener: chain(mount(server)),
  token: '/oauth/token',
  async clientOf(name) {
    const { client, clientSecret } = await server.clients.create({
      name,
      userId: owner.id,
      redirectUris: [redirectUri],
      ...(name !== 'code' && { openid: { id_token_signed_response_alg: name } }),
    })
    const { clientId } = client
    for (const { id } of users) await server.consents.grant(id, clientId, scopeOf(name).split(' '))
    return { clientId, clientSecret }
  },
  async newCode(name, { clientId }) {
    const { headers } = users[codes++ % users.length] ?? owner
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: scopeOf(name),
      nonce: 'n',
    })
    const request = new Request(`${issuer}/oauth/authorize?${query}`, { headers })
    const location = (await server.fetch(request)).headers.get('location') ?? ''
    const code = URL.parse(location)?.searchParams.get('code')
    assert.ok(code, `no code, but a redirect to ${location}`)
    return code
  },
})
