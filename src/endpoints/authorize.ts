import type { Endpoint, ServerContext } from '../extension.ts'
import type { HttpRequest } from '../http-request.ts'
import type { AuthorizationRequest } from '../model/authorization-request.ts'
import type { Client } from '../model/client.ts'
import { Parameters } from '../model/parameters.ts'
import { withQuery } from '../model/redirect-uri.ts'
import { isWithin } from '../model/scope.ts'
import { OAuthError } from '../oauth-error.ts'
import { asOAuthError } from '../refusal.ts'
import type { SignedIn } from '../resource-server.ts'
import { browserOf } from '../session/browser.ts'
import { redirectAnswer } from './answers.ts'
import { type ProvenRedirect, proveRedirect, validateRequest } from './authorization-request.ts'
import { errorResponse } from './authorization-response.ts'
import { decide, grant, showConsent } from './consent.ts'

/** Where a client sends its user to ask for an authorization. RFC 6749 §3.1. */
export const authorizationEndpoint: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/authorize`,
  methods: ['GET', 'POST'],
  errors: 'page',
  advertisedAs: 'authorization_endpoint',
  async handle(request, server) {
    if (request.method === 'HEAD')
      return new Response(null, { headers: { 'cache-control': 'no-store' } })
    const text = request.method === 'POST' ? await request.formText() : request.query
    const params = request.method === 'POST' ? new Parameters(text) : request.queryParameters()
    if (request.method === 'POST' && params.repeated('confirm').length > 0)
      return decide(request, params, server)

    let proven: ProvenRedirect
    try {
      proven = await proveRedirect(params, server)
    } catch (error) {
      return toErrorView(error, server)
    }
    return authorize(request, text, params, proven, server)
  },
}

const authorize = async (
  http: HttpRequest,
  text: string,
  params: Parameters,
  proven: ProvenRedirect,
  server: ServerContext,
): Promise<Response> => {
  let signedIn: SignedIn | undefined
  try {
    signedIn = await server.sessions.signedIn(browserOf(http))
    const request = validateRequest(proven, params, server)
    if (!signedIn) {
      if (request.prompt.includes('none'))
        throw new OAuthError('login_required', 'The user is not logged in.')
      return toLogin(text, server)
    }
    if (request.prompt.includes('login')) return toLogin(text, server, { again: true })
    if (await isGranted(request, proven.client, signedIn, server))
      return await grant(request, proven.client, signedIn, server)
    if (request.prompt.includes('none'))
      throw new OAuthError('consent_required', 'The user has to agree first.')
    return await showConsent(http, request, proven.client, signedIn, server)
  } catch (error) {
    const known = asOAuthError(error)
    if (!(known instanceof OAuthError)) throw error
    // Nobody is sent to another site by a link alone: an error waits until we know the user (RFC 9700 §4.11.2).
    const isForStranger =
      !signedIn && known.code !== 'login_required' && known.code !== 'temporarily_unavailable'
    return isForStranger ? toLogin(text, server) : errorResponse(known, proven, server)
  }
}

// Consent is remembered for clients that prove who they are; anybody can pose as a public one (RFC 8252 §8.6).
const isGranted = async (
  request: AuthorizationRequest,
  client: Client,
  { user }: SignedIn,
  server: ServerContext,
): Promise<boolean> => {
  if (!client.isConfidential || request.prompt.includes('consent')) return false
  const consent = await server.consents.find(user.id, client.clientId)
  return consent !== undefined && isWithin(request.scopes, consent.scopes)
}

const toErrorView = (error: unknown, { errorView }: ServerContext): Response => {
  const known = asOAuthError(error)
  if (!(known instanceof OAuthError) || known.status >= 500) throw error
  return redirectAnswer(withQuery(errorView, { ...known.toWire(), error: 'invalid_request' }))
}

/** The login page, which comes back to the very same request, but for the secret that some clients send along. */
const toLogin = (
  text: string,
  { settings, basePath }: ServerContext,
  { again = false } = {},
): Response => {
  const query = text
    .split('&')
    .filter((pair) => !isNamed(pair, 'client_secret') && !(again && isNamed(pair, 'prompt')))
    .join('&')
  const next = `${basePath}${settings.oauthPrefix}/authorize?${query}`
  return redirectAnswer(
    withQuery(settings.loginUrl ?? `${basePath}${settings.loginPath}`, {
      next,
      prompt: again ? 'login' : undefined,
    }),
  )
}

const isNamed = (pair: string, name: string): boolean => new URLSearchParams(pair).has(name)
