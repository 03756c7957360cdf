import express, { type Router } from 'express'
import type { AuthorizationServer } from 'svc-oauth2server'
import { page, pageOf } from 'svc-oauth2server/express'
import { callTo, withToken } from '../start-page/call.ts'
import { basePathOf, linksOf } from '../start-page/links.ts'
import { contentSecurityPolicy } from '../start-page/shell.ts'
import type { ShownTokens } from '../start-page/shown-tokens.ts'
import { authorizationUrl, newPending, type Pending, redeem } from './flow.ts'
import { callbackOf } from './register.ts'
import { failedPage, finishedPage } from './result-page.ts'

/**
 * The cookie with the pending request. `SameSite=Lax` permits the browser to send the cookie after the redirect from the
 * server.
 */
const cookieName = 'sample_request'

/**
 * Creates an application that uses the authorization code flow with PKCE, like a site of a third party. The application
 * shares this process so that one command starts everything, but it calls the server over HTTP.
 * @param findClientId returns undefined if the application is not registered, and the flow then cannot start
 * @param tokens receives the access token, with which the start page calls the API
 */
export const sampleApplication = (
  server: AuthorizationServer,
  findClientId: () => string | undefined,
  tokens: ShownTokens,
): Router => {
  const router = express.Router()
  const { issuer, settings } = server
  const links = linksOf(server)
  const basePath = basePathOf(issuer)
  const redirectUri = callbackOf(issuer)
  const cookie = { path: links.sample, httpOnly: true, sameSite: 'lax' } as const

  router.get('/', (_req, res) => res.redirect(303, links.startSample))
  router.get('/start', (_req, res, next) => {
    const clientId = findClientId()
    if (clientId === undefined) return next()
    const pending = newPending()
    const scope = 'notes:read notes:write user:email'
    const params = { client_id: clientId, redirect_uri: redirectUri, scope }
    const isSecure = issuer.startsWith('https:')
    res
      .set('cache-control', 'no-store')
      .cookie(cookieName, `${pending.state}.${pending.verifier}`, {
        ...cookie,
        secure: isSecure,
        maxAge: 600_000,
      })
      .redirect(
        303,
        authorizationUrl(`${issuer}${settings.oauthPrefix}/authorize`, pending, params),
      )
  })
  router.get('/callback', page(server), async (req, res) => {
    const session = pageOf(req)
    const send = async (status: number, markup: Promise<string>) => {
      res.status(status).type('html').set('content-security-policy', contentSecurityPolicy)
      res.send(await markup)
    }
    const fail = (reason: string) => send(400, failedPage({ links, session, reason }))
    const pending = pendingIn(req.headers.cookie)
    res.clearCookie(cookieName, cookie)
    const { code, state, iss, error, error_description: description } = req.query
    if (!pending || state !== pending.state || iss !== issuer)
      return fail('This response does not belong to a request of this browser.')
    if (typeof code !== 'string')
      return fail(String(description ?? error ?? 'The code is missing.'))
    const call = callTo(req, basePath)
    const granted = await redeem(call, `${settings.oauthPrefix}/token`, {
      code,
      client_id: findClientId() ?? '',
      redirect_uri: redirectUri,
      code_verifier: pending.verifier,
    })
    if (typeof granted === 'string') return fail(granted)
    tokens.set(granted.user.id, granted.access_token)
    const answer = await call('/api/notes', withToken(granted.access_token))
    await send(200, finishedPage({ links, session, url: `${issuer}/api/notes`, granted, answer }))
  })
  return router
}

const pendingIn = (cookies = ''): Pending | undefined => {
  const [, state, verifier] =
    new RegExp(`(?:^|; )${cookieName}=([\\w-]{43})\\.([\\w-]{43})(?:;|$)`).exec(cookies) ?? []
  return state !== undefined && verifier !== undefined ? { state, verifier } : undefined
}
