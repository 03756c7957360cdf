import { type AuthorizationServer, type FindResourceOwner, Scope } from 'svc-oauth2server'
import { createTestServer } from 'svc-oauth2server/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { authorizeUrl, newPkce, tokenRequest, UserAgent } from '../support/user-agent.ts'

/** Starts an application with its own login. It serves `GET /api/me`, and at `/` the JWT of the page as text. */
export type HostWithLogin = (
  server: AuthorizationServer,
) => Promise<{ readonly port: number; close(): Promise<void> }>

export type Owner = { readonly id: number; readonly sessionId: string } | null

/** Returns the user of the application's session cookie, like a session middleware. */
export const ownerIn = (cookie: string | null | undefined): Owner => {
  const [, id, sessionId] = /\bhost=(\d+)\.(\w+)/.exec(cookie ?? '') ?? []
  if (id === '500') throw new Error('The session store of the application is unavailable.')
  return id === undefined || sessionId === undefined ? null : { id: Number(id), sessionId }
}

const redirectUri = 'https://client.example/cb'

/** Defines tests of an application with its own login and sessions, for every framework. */
export const hostLoginContract = (
  title: string,
  resourceOwner: FindResourceOwner,
  start: HostWithLogin,
): void => {
  describe(title, () => {
    let server: AuthorizationServer
    let url: string
    let close: () => Promise<void>
    let user: number
    beforeAll(async () => {
      server = await createTestServer({
        scopes: [new Scope('notes:read')],
        loginUrl: '/enter',
        resourceOwner,
      })
      const host = await start(server)
      close = host.close
      url = `http://localhost:${host.port}`
      const created = await server.users.create({ email: 'a@example.org', password: null })
      user = created.id as number
    })
    afterAll(async () => {
      await close()
      await server.close()
    })

    /** Returns a browser in which the application has logged the user in. */
    const loggedIn = (session = 'one') => {
      const agent = new UserAgent()
      agent.jar.setCookieSync(`host=${user}.${session}`, url)
      return agent
    }
    const me = async (agent: UserAgent, jwt?: string) => {
      const headers: Record<string, string> =
        jwt === undefined ? {} : { authorization: `Bearer ${jwt}` }
      const response = await agent.fetch(`${url}/api/me`, { headers })
      return { status: response.status, body: await response.json() }
    }
    const jwtOf = async (agent: UserAgent) => (await agent.fetch(`${url}/`)).text()
    const client = async () => {
      const input = { name: 'Client', userId: user, redirectUris: [redirectUri] }
      const { client, clientSecret } = await server.clients.create(input)
      return { clientId: client.clientId, clientSecret }
    }

    test('completes the code flow with the login of the application', async () => {
      const registered = await client()
      const { verifier, challenge } = newPkce()
      const request = authorizeUrl(url, {
        client_id: registered.clientId,
        redirect_uri: redirectUri,
        scope: 'notes:read',
        state: 'a b&c',
        code_challenge: challenge,
        code_challenge_method: 'S256',
      })
      const stranger = await new UserAgent().fetch(request)
      const login = new URL(stranger.headers.get('location') ?? '', url)
      expect([stranger.status, login.origin, login.pathname]).toEqual([303, url, '/enter'])
      const next = login.searchParams.get('next') ?? ''
      expect(next).toBe(new URL(request).pathname + new URL(request).search)

      const agent = loggedIn()
      const consent = await agent.browse(new URL(next, url))
      expect(consent.status).toBe(200)
      const decided = await agent.submit(consent, { confirm: 'yes' })
      expect(decided.status).toBe(303)
      const response = new URL(decided.headers.get('location') ?? '')
      expect(response.searchParams.get('state')).toBe('a b&c')
      const { status, body } = await tokenRequest(
        url,
        {
          grant_type: 'authorization_code',
          code: response.searchParams.get('code') ?? '',
          redirect_uri: redirectUri,
          code_verifier: verifier,
        },
        { basic: registered },
      )
      expect(status).toBe(200)
      expect(await me(new UserAgent(), String(body.access_token))).toEqual({
        status: 200,
        body: { id: user, kind: 'access_token' },
      })
    })

    test('provides a JWT on the page, and rejects an API request without this JWT', async () => {
      const agent = loggedIn()
      const jwt = await jwtOf(agent)
      expect(await me(agent, jwt)).toEqual({ status: 200, body: { id: user, kind: 'session' } })
      expect((await me(agent)).status).toBe(400)
      expect((await me(agent, 'a.b.c')).status).toBe(400)
      expect((await me(new UserAgent(), jwt)).status).toBe(401)
      expect((await me(loggedIn('another'), jwt)).status).toBe(403)
      expect(await jwtOf(new UserAgent())).toBe('')
    })

    test('does not accept the session at an endpoint for access tokens', async () => {
      const agent = loggedIn()
      const authorization = `Bearer ${await jwtOf(agent)}`
      expect((await agent.fetch(`${url}/oauth/ping`)).status).toBe(400)
      const ping = await agent.fetch(`${url}/oauth/ping`, { headers: { authorization } })
      expect(ping.status).toBe(401)
    })

    test('rejects the session of a deactivated user until reactivation', async () => {
      const agent = loggedIn()
      const jwt = await jwtOf(agent)
      await server.users.setActive(user, false)
      expect((await me(agent, jwt)).status).toBe(401)
      const { clientId } = await client()
      const response = await agent.fetch(authorizeUrl(url, { client_id: clientId }))
      await server.users.setActive(user, true)
      expect(response.headers.get('location')).toMatch(/^\/oauth\/errors\?|^\/enter\?/)
      expect((await me(agent, jwt)).status).toBe(200)
    })

    test('returns 404 at /login and /logout', async () => {
      for (const path of ['/login', '/logout'])
        expect((await fetch(`${url}${path}`)).status).toBe(404)
    })

    test('returns 500 if the application cannot look up the session', async () => {
      const agent = new UserAgent()
      agent.jar.setCookieSync('host=500.x', url)
      for (const path of ['/api/me', '/', '/oauth/ping'])
        expect([path, (await agent.fetch(`${url}${path}`)).status]).toEqual([path, 500])
    })
  })
}
