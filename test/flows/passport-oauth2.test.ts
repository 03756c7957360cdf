import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { Passport } from 'passport'
import OAuth2Strategy from 'passport-oauth2'
import type { ClientInput } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { statusOf } from '../support/tokens.ts'
import { UserAgent } from '../support/user-agent.ts'

interface LoggedIn {
  readonly id: unknown
  readonly clientName: string
  readonly accessToken: string
  readonly refreshToken: string
}

/** A website whose users log in with their accounts at the authorization server. */
interface Website extends AsyncDisposable {
  readonly url: string
  refresh(refreshToken: string): Promise<Pick<LoggedIn, 'accessToken' | 'refreshToken'>>
}

type How = 'client_secret_post' | 'client_secret_basic' | 'none'

const startWebsite = async (
  app: TestServer,
  how: How,
  { pkce }: { readonly pkce: boolean },
): Promise<Website> => {
  const http = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const url = `http://localhost:${(http.address() as AddressInfo).port}`
  const input: Partial<ClientInput> = {
    redirectUris: [`${url}/callback`],
    isConfidential: how !== 'none',
  }
  const { clientId: clientID, clientSecret } = await app.client(input)
  const basic = { Authorization: `Basic ${btoa(`${clientID}:${clientSecret}`)}` }
  const strategy = new OAuth2Strategy(
    {
      authorizationURL: `${app.issuer}/oauth/authorize`,
      tokenURL: `${app.issuer}/oauth/token`,
      clientID,
      // The library sends the secret in the body, and omits an empty secret.
      clientSecret: how === 'client_secret_post' ? clientSecret : '',
      ...(how === 'client_secret_basic' ? { customHeaders: basic } : {}),
      callbackURL: `${url}/callback`,
      scope: ['notes:read', 'user:email'],
      state: true,
      pkce,
    },
    (
      accessToken: string,
      refreshToken: string,
      profile: { user: { id: unknown }; client: { name: string } },
      done: OAuth2Strategy.VerifyCallback,
    ) => {
      const { user, client } = profile
      done(null, { id: user.id, clientName: client.name, accessToken, refreshToken })
    },
  )
  // The library requires a function that loads the profile of the user.
  strategy.userProfile = (accessToken, done) => {
    fetch(`${app.issuer}/oauth/info`, { headers: { authorization: `Bearer ${accessToken}` } })
      .then((answer) => answer.json())
      .then((profile) => done(null, profile), done)
  }
  const passport = new Passport()
  passport.use('server', strategy)
  http.on('request', website(passport))
  return {
    url,
    refresh: (refreshToken) =>
      new Promise((resolve, reject) => {
        const given = { grant_type: 'refresh_token' }
        const { _oauth2: oauth2 } = strategy as unknown as { _oauth2: TokenRequests }
        oauth2.getOAuthAccessToken(refreshToken, given, (error, accessToken, rotated) =>
          error ? reject(error) : resolve({ accessToken, refreshToken: rotated }),
        )
      }),
    [Symbol.asyncDispose]: () => closed(http),
  }
}

/** The library that passport-oauth2 uses for token requests. */
interface TokenRequests {
  getOAuthAccessToken(
    value: string,
    parameters: object,
    done: (error: unknown, accessToken: string, refreshToken: string) => void,
  ): void
}

const website = (passport: InstanceType<typeof Passport>) => {
  const sessions = new Map<string, object>()
  const site = express()
  site.use((request, response, next) => {
    const [, id = randomUUID()] = /website=([\w-]+)/.exec(request.headers.cookie ?? '') ?? []
    const session = sessions.get(id) ?? {}
    sessions.set(id, session)
    response.cookie('website', id)
    Object.assign(request, { session })
    next()
  })
  site.use(passport.initialize())
  site.get('/login', passport.authenticate('server', { session: false }))
  site.get(
    '/callback',
    passport.authenticate('server', { session: false }),
    (request, response) => {
      response.json(request.user)
    },
  )
  site.use(((error, _request, response, _next) => {
    response.status(502).json({ name: error.name, code: error.code })
  }) satisfies express.ErrorRequestHandler)
  return site
}

const closed = (http: Server): Promise<void> =>
  new Promise((resolve) => {
    http.close(() => resolve())
    http.closeAllConnections()
  })

describe('the client library passport-oauth2', () => {
  let app: TestServer
  beforeAll(async () => {
    app = await startServer()
  })
  afterAll(() => app.close())

  /** Logs a user in at the website. Returns the callback URL and the response of the website. */
  const logIn = async (site: Website, confirm: 'yes' | 'no' = 'yes') => {
    const agent = new UserAgent()
    const start = await agent.fetch(`${site.url}/login`)
    const callback = await agent.authorize(app, start.headers.get('location') ?? '', confirm)
    return { agent, callback, answer: await agent.fetch(callback) }
  }

  test.each<{ how: How; pkce: boolean }>([
    { how: 'client_secret_post', pkce: true },
    { how: 'client_secret_post', pkce: false },
    { how: 'client_secret_basic', pkce: true },
    { how: 'none', pkce: true },
  ])('logs in and refreshes with $how (PKCE: $pkce)', async ({ how, pkce }) => {
    await using site = await startWebsite(app, how, { pkce })
    const { answer } = await logIn(site)
    expect(answer.status).toBe(200)
    const user = (await answer.json()) as LoggedIn
    expect(user).toMatchObject({ id: app.user.id, clientName: 'Client' })
    expect(await statusOf(app, user.accessToken)).toBe(200)

    const refreshed = await site.refresh(user.refreshToken)
    expect(await statusOf(app, refreshed.accessToken)).toBe(200)
    expect((await site.refresh(refreshed.refreshToken)).accessToken).not.toBe(refreshed.accessToken)
  })

  test('does not log in a user who denies access', async () => {
    await using site = await startWebsite(app, 'client_secret_post', { pkce: true })
    const { callback, answer } = await logIn(site, 'no')
    expect(callback.searchParams.get('error')).toBe('access_denied')
    expect(answer.status).toBe(401)
  })

  test('rejects a callback with a forged state', async () => {
    await using site = await startWebsite(app, 'client_secret_post', { pkce: true })
    const agent = new UserAgent()
    const start = await agent.fetch(`${site.url}/login`)
    const callback = await agent.authorize(app, start.headers.get('location') ?? '')
    callback.searchParams.set('state', 'forged')
    expect((await agent.fetch(callback)).status).toBe(403)
  })

  test('reports the error invalid_grant to the website for a used code', async () => {
    await using site = await startWebsite(app, 'client_secret_post', { pkce: false })
    const { agent, callback } = await logIn(site)
    // The library accepts each state only once, so use a new state.
    const start = await agent.fetch(`${site.url}/login`)
    const { searchParams } = new URL(start.headers.get('location') ?? '')
    callback.searchParams.set('state', searchParams.get('state') ?? '')
    const again = await agent.fetch(callback)
    expect(again.status).toBe(502)
    expect(await again.json()).toEqual({ name: 'TokenError', code: 'invalid_grant' })
  })
})
