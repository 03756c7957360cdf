import oauthPlugin, { type OAuth2Namespace } from '@fastify/oauth2'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { startServer } from '../support/server.ts'
import { statusOf } from '../support/tokens.ts'
import { UserAgent } from '../support/user-agent.ts'

declare module 'fastify' {
  interface FastifyInstance {
    notes: OAuth2Namespace
  }
}

// The configuration of the plugin contains only the issuer and the client.

test('@fastify/oauth2 finds the server by its issuer, logs in, refreshes and revokes [T2404]', async () => {
  await using app = await startServer({ openidConnect: true, clock: () => Date.now() })
  const site = Fastify()
  const { clientId, clientSecret } = await app.client({
    redirectUris: ['http://localhost:3999/callback'],
  })
  await site.register(oauthPlugin, {
    name: 'notes',
    scope: ['openid', 'profile', 'email'],
    credentials: { client: { id: clientId, secret: clientSecret } },
    startRedirectPath: '/login',
    callbackUri: 'http://localhost:3999/callback',
    discovery: { issuer: app.issuer },
  })
  site.get('/callback', async (request) => {
    const { token } = await site.notes.getAccessTokenFromAuthorizationCodeFlow(request)
    return { token, user: await site.notes.userinfo(token.access_token) }
  })
  const agent = new UserAgent()
  try {
    const started = await site.inject({ url: '/login' })
    const location = String(started.headers.location)
    expect(new URL(location).searchParams.get('code_challenge_method')).toBe('S256')
    const callback = await agent.authorize(app, location)
    const cookies = Object.fromEntries(started.cookies.map(({ name, value }) => [name, value]))
    const answer = await site.inject({ url: callback.pathname + callback.search, cookies })
    const { token, user } = answer.json()
    expect(user).toMatchObject({ sub: String(app.user.id), email: app.user.email })
    expect(token.id_token).toEqual(expect.any(String))

    const refreshed = await site.notes.getNewAccessTokenUsingRefreshToken(token, {})
    expect(refreshed.token.access_token).not.toBe(token.access_token)
    expect(await statusOf(app, refreshed.token.access_token)).toBe(200)
    await site.notes.revokeAllToken(refreshed.token, {})
    expect(await statusOf(app, refreshed.token.access_token)).toBe(401)
  } finally {
    await site.close()
  }
})
