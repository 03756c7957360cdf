import { expect } from 'vitest'
import { redirectUri, type TestServer } from '../support/server.ts'
import { browser, logIn } from '../support/session.ts'
import { authorizationOf, statusOf } from '../support/tokens.ts'
import { authorizeUrl, tokenRequest } from '../support/user-agent.ts'

/** Creates at least one sealed row of each kind at a server. */
export const everyKind = async (app: TestServer) => {
  const basic = await app.client()
  const scopes = ['notes:read']
  await app.server.consents.grant(app.user.id, basic.clientId, scopes)
  const { cookie, agent } = await logIn(app)
  const refresh = (at: TestServer, token: unknown) =>
    tokenRequest(
      at.issuer,
      { grant_type: 'refresh_token', refresh_token: String(token) },
      { basic },
    )
  const first = await authorizationOf(app, basic.clientId)
  const rotated = await authorizationOf(app, basic.clientId)
  const answered = (await refresh(app, rotated.refreshToken)).body
  return {
    basic,
    agent,
    cookie,
    refresh,
    personal: await app.personalToken(scopes),
    /** The refresh token that each call of expectAllWork() redeems and replaces. */
    current: first.refreshToken as unknown,
    access: (await authorizationOf(app, basic.clientId)).accessToken,
    /** A redeemed refresh token, and the response to its redemption. */
    rotated: rotated.refreshToken,
    answered,
    /** Refresh tokens that expectAllWork() does not redeem. */
    untouched: await Promise.all(
      Array.from({ length: 3 }, () => authorizationOf(app, basic.clientId)),
    ),
  }
}

type Made = Awaited<ReturnType<typeof everyKind>>

const codeAt = async (at: TestServer, { basic, agent }: Made): Promise<string> => {
  const url = authorizeUrl(at.issuer, {
    client_id: basic.clientId,
    redirect_uri: redirectUri,
    scope: 'notes:read',
  })
  return (await agent.authorize(at, url)).searchParams.get('code') ?? ''
}

/** Requests a code at the server `from`, and redeems the code at the server `at`. @returns the status */
export const redeem = async (from: TestServer, at: TestServer, made: Made): Promise<number> => {
  const code = await codeAt(from, made)
  const parameters = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  return (await tokenRequest(at.issuer, parameters, { basic: made.basic })).status
}

/** Requests a token of client_credentials. @returns the status */
export const ownToken = async ({ issuer }: TestServer, { basic }: Made): Promise<number> =>
  (await tokenRequest(issuer, { grant_type: 'client_credentials' }, { basic })).status

/** Expects that every row of `made` is usable at a server, including rows that each use changes. */
export const expectAllWork = async (at: TestServer, made: Made): Promise<void> => {
  const { basic, cookie, personal, access, rotated, answered, refresh } = made
  const { server, user, password } = at
  expect(await statusOf(at, personal), 'personal token').toBe(200)
  expect(await statusOf(at, access), 'access token').toBe(200)
  const next = await refresh(at, made.current)
  expect(next.status, 'refresh token').toBe(200)
  expect(
    await statusOf(at, String(next.body.access_token)),
    'the access token of the response',
  ).toBe(200)
  made.current = next.body.refresh_token
  const again = await refresh(at, rotated)
  expect(again.body.access_token, 'rotated refresh token').toBe(answered.access_token)
  expect(await ownToken(at, made), 'client').toBe(200)
  expect(await server.consents.find(user.id, basic.clientId), 'consent').toBeDefined()
  const credentials = { cookie, address: '127.0.0.1', userAgent: browser, raw: undefined }
  expect(await server.sessions.signedIn(credentials), 'session').toBeDefined()
  expect(await redeem(at, at, made), 'code').toBe(200)
  expect(await server.users.withPassword(user.email, password), 'password').toBeDefined()
}
