import { asOAuthError } from '../../../http/refusal.ts'
import type { HttpRequest } from '../../../http/request.ts'
import type { SignedIn } from '../../../model/auth.ts'
import type { AuthorizationRequest } from '../../../model/authorization-request.ts'
import { bounds } from '../../../model/bounds.ts'
import { type Client, isTrusted } from '../../../model/client.ts'
import type { Consent } from '../../../model/entities/consent.ts'
import { ExpiredRequest, OAuthError, type OAuthErrorCode } from '../../../model/oauth-error.ts'
import { isNamed, type JsonSchema, Parameters } from '../../../model/parameters.ts'
import { withQuery } from '../../../model/redirect-uri.ts'
import { stateProblem } from '../../../model/state-length.ts'
import { consentOfSession } from '../../../records/consents.ts'
import { mayReturn } from '../../destinations.ts'
import { formBody, formSchema } from '../../openapi/operations.ts'
import { location } from '../../openapi/responses.ts'
import { named, type Parts, queryOf, text } from '../../openapi/schema.ts'
import type { ReferredRequest } from '../../plug-ins/extension.ts'
import type { Endpoint, Extension } from '../../plug-ins.ts'
import type { ServerContext } from '../../server-context.ts'
import { browserOf } from '../../session/browser.ts'
import { rememberedScopes } from '../consent/optional-scopes.ts'
import { uiLocalesIn } from '../responses/reader.ts'
import { redirectResponse } from '../responses/responses.ts'
import {
  authorizationParameters,
  type ProvenRedirect,
  proveRedirect,
  referredTo,
  validateRequest,
} from './authorization-request.ts'
import { errorResponse } from './authorization-response.ts'
import { decide, otherAccountOf, showConsent, useOtherAccount } from './consent.ts'
import { grant } from './grant-authorization.ts'
import { isPrefetch } from './is-prefetch.ts'
import {
  askedForLogin,
  hasLoggedInAgain,
  loginAgain,
  notRepeated,
  returnsFromApplication,
} from './login-again.ts'
import { detailsParameter, expiredReason, keepDetails } from './refused-redirect.ts'

const page = { 'text/html': { schema: text } }

const responses: Parts = {
  200: { description: 'The consent page.', content: page },
  303: {
    description:
      'A redirect to the client with the authorization response, to the login, or to the error page if the client or its redirect URI is unknown.',
    headers: location,
  },
  default: {
    description: 'The reason for the refusal, as a page or as JSON.',
    content: { ...page, 'application/json': { schema: named('Problem') } },
  },
}

/** The fields of the form with the decision of the user. */
const decisionFields: Readonly<Record<string, JsonSchema>> = {
  confirm: { ...text, description: '`yes` or `no`.' },
  authorization_request: text,
  csrf_token: text,
  optional_scope: { type: 'array', items: text },
}

/** The authorization endpoint, to which a client redirects the user. RFC 6749 §3.1. */
export const authorizationEndpoint: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/authorize`,
  methods: ['GET', 'POST'],
  errors: 'page',
  advertisedAs: 'authorization_endpoint',
  // The schemas require no parameter, because an invalid request also results in one of these responses, such as a
  // redirect to the client with an error (RFC 6749 §4.1.2.1).
  describe(server) {
    const parameters = authorizationParameters(server)
    const common = { tags: ['protocol'], security: [], responses }
    return {
      get: {
        operationId: 'authorize',
        summary: 'Requests an authorization by the user (RFC 6749 §3.1)',
        ...common,
        parameters: queryOf(parameters),
      },
      post: {
        operationId: 'authorizeByPost',
        summary: 'Requests an authorization by POST; with `confirm`, sends the user’s decision',
        ...common,
        requestBody: {
          ...formBody(formSchema({ ...parameters, ...decisionFields })),
          required: false,
        },
      },
    }
  },
  async handle(request, server) {
    if (request.method === 'HEAD')
      return new Response(null, { headers: { 'cache-control': 'no-store' } })
    // If the consent is remembered, a GET request issues a code or a token. Refuse a prefetch, because the user has not
    // opened the page.
    if (isPrefetch(request))
      throw new OAuthError('invalid_request', 'This page cannot be fetched in advance.', {
        status: 403,
      })
    const text = request.method === 'POST' ? await request.formText() : request.query
    // After the login, a POST request is repeated as a GET request, so its body must fit into a URL.
    if (text.length > bounds.query)
      throw new OAuthError('invalid_request', 'The request is too long.', { status: 413 })
    const params = new Parameters(text)
    if (request.method === 'POST' && params.repeated('confirm').length > 0)
      return decide(request, params, server)
    const other = params.repeated(otherAccountOf)
    if (other[0] !== undefined && params.repeated('client_id').length === 0)
      return useOtherAccount(request, other[0], server)

    // Look up the session while the server looks up the client. `authorize` handles an error of this look-up.
    const signingIn = server.sessions.signedIn(browserOf(request))
    signingIn.catch(() => undefined)
    const remembered = rememberedFor(request, params, server)
    remembered?.catch(() => undefined)
    let meant: ReferredRequest | undefined
    let proven: ProvenRedirect
    try {
      const { address } = request
      meant = await referredTo(params, server, { address })
      proven = await proveRedirect(meant.params, server, { address })
    } catch (error) {
      // An expired request object may contain the redirect URI, so its expiry is the reason.
      return toErrorView(meant?.refusal ?? error, text, server, {
        details: await keepDetails(request, error, server),
      })
    }
    const repeated = withParameters(text, meant.added)
    return authorize(
      request,
      { text: repeated, sent: params, signingIn, remembered },
      meant,
      proven,
      server,
    )
  },
}

/** The parameters that the browser sent: the whole request, a reference to a stored request, or a request object. */
interface Sent {
  /** The query that the browser sends again after a login. */
  readonly text: string
  readonly sent: Parameters
  readonly signingIn: Promise<SignedIn | undefined>
  /** The consent of the user of the session for the client in the query; undefined if it must be looked up later. */
  readonly remembered: Promise<Consent | undefined> | undefined
}

// Look up the consent while the server looks up the session and the client.
const rememberedFor = (
  http: HttpRequest,
  params: Parameters,
  { sessions, records }: ServerContext,
) => {
  const [clientId, ...others] = params.repeated('client_id')
  const sessionId = sessions.isHosted ? undefined : sessions.idIn(http.header('cookie') ?? '')
  if (clientId === undefined || others.length > 0 || sessionId === undefined) return undefined
  return consentOfSession(sessionId, clientId, records)
}

const authorize = async (
  http: HttpRequest,
  { text, sent, signingIn, remembered }: Sent,
  { params, refusal }: ReferredRequest,
  proven: ProvenRedirect,
  server: ServerContext,
): Promise<Response> => {
  let signedIn: SignedIn | undefined
  try {
    signedIn = await signingIn
    if (refusal) throw refusal
    const request = validateRequest(proven, params, server)
    if (!signedIn && request.prompt.includes('none')) throw loginRequired()
    const required = await requiredLogin(request, { client: proven.client, signedIn }, server)
    const prompts = request.prompt.some((one) => one === 'login' || one === 'select_account')
    const asksAgain = prompts || required !== undefined
    if (!signedIn || (asksAgain && !hasLoggedInAgain(sent, signedIn, server))) {
      if (request.prompt.includes('none')) throw loginRequired()
      if (signedIn && returnsFromApplication(sent, server))
        throw new OAuthError('login_required', 'The user has not logged in again.')
      // The server can remove the prompt from a query, but not from a stored request or a request object.
      const keepsPrompt = params !== sent
      // The application's login page may redirect back without a new login, so check the time of the login.
      const isChecked = keepsPrompt || (server.sessions.isHosted && hasLoginTime(signedIn))
      const isMarked = (isChecked && prompts) || required !== undefined
      const asked = isMarked ? askedForLogin(text, signedIn, server) : undefined
      const prompt = asksAgain ? ([...request.prompt, 'login'] as const) : request.prompt
      return toLogin(text, server, prompt, asked)
    }
    if (required === 'as_other_user')
      throw new OAuthError('login_required', 'Another user is logged in.')
    const given = await givenConsent(request, proven.client, { signedIn, remembered }, server)
    if (given) {
      const granted = { ...request, scopes: given.scopes }
      return await grant(http, granted, proven.client, signedIn, given.consent, server)
    }
    if (request.prompt.includes('none'))
      throw new OAuthError('consent_required', 'The user has to agree first.')
    const again = requestAgain(text, server, [...request.prompt, 'login'])
    return await showConsent(http, request, proven.client, signedIn, server, again)
  } catch (error) {
    const known = asOAuthError(error)
    if (!(known instanceof OAuthError)) throw error
    // Without a login, redirect only final errors.
    const visit = { client: proven.client, isLoggedIn: signedIn !== undefined }
    if (!signedIn) {
      const isFinal = known.code === 'login_required' || known.code === 'temporarily_unavailable'
      if (!isFinal) return toLogin(text, server)
      if (!mayReturn(visit)) return toErrorView(error, text, server, { code: known.code })
    }
    noteRefusal(known, proven.client, server)
    const state = stateProblem(proven.state) ? undefined : proven.state
    return await errorResponse(http, known, { ...proven, ...visit, state }, server)
  }
}

// Return the same error without a login and for another user, so that a guessed user is not disclosed.
const loginRequired = (): OAuthError => new OAuthError('login_required', 'The user has to log in.')

const hasLoginTime = (signedIn: SignedIn | undefined): boolean =>
  signedIn !== undefined && signedIn.loggedInAt !== null

/** Returns why an extension requires a login for this request; undefined if no extension requires a login. */
const requiredLogin: NonNullable<Extension['requiredLogin']> = async (request, asking, server) => {
  for (const extension of server.extensions) {
    const required = await extension.requiredLogin?.(request, asking, server)
    if (required !== undefined) return required
  }
  return undefined
}

// Do not record these errors as refusals, because they are normal responses, for instance to `prompt=none`.
const usualErrors: readonly string[] = ['login_required', 'consent_required']

const noteRefusal = (
  { code, message }: OAuthError,
  client: Client,
  { refusals }: ServerContext,
): void => {
  if (!usualErrors.includes(code)) refusals.note(client, { error: code, description: message })
}

interface GivenConsent {
  readonly consent: Consent
  /** The requested scopes that the consent grants. */
  readonly scopes: readonly string[]
}

// Ignore remembered consent for public clients, because anyone can impersonate them (RFC 8252 §8.6). Ignore remembered
// consent for untrusted clients too, because a client that registers itself can choose any name.
const givenConsent = async (
  request: AuthorizationRequest,
  client: Client,
  { signedIn, remembered }: Pick<Sent, 'remembered'> & { readonly signedIn: SignedIn },
  server: ServerContext,
): Promise<GivenConsent | undefined> => {
  if (!client.isConfidential || !isTrusted(client) || request.prompt.includes('consent'))
    return undefined
  const { user } = signedIn
  const found = await remembered
  // The browser may have logged in again, and a stored request may belong to another client.
  const isSame = found?.userId === user.id && found.clientId === client.clientId
  const consent = isSame ? found : await server.consents.find(user.id, client.clientId)
  const scopes = consent && rememberedScopes(request.scopes, client, consent)
  return consent && scopes && { consent, scopes }
}

const toErrorView = (
  error: unknown,
  text: string,
  server: ServerContext,
  { code, details }: { readonly code?: OAuthErrorCode; readonly details?: string | undefined },
): Response => {
  const known = asOAuthError(error)
  if (!(known instanceof OAuthError) || known.status >= 500) throw error
  // Too many requests are not an error of the application.
  const usual = known.status === 429 ? 'temporarily_unavailable' : 'invalid_request'
  const view = {
    ...known.toWire(),
    error: code ?? usual,
    ui_locales: uiLocalesIn(text),
    reason: known instanceof ExpiredRequest ? expiredReason : undefined,
    [detailsParameter]: details,
  }
  return redirectResponse({ page: withQuery(server.ui.errorView, view) }, server)
}

/**
 * The maximum number of characters of the URL of the login page. Node refuses requests whose headers, with the URL, are
 * longer than 16 KB.
 */
const maxLoginLength = 14_000

/** Redirects to the login page. @throws OAuthError for a request that the URL of the login page cannot contain */
const toLogin = (
  text: string,
  server: ServerContext,
  prompt?: AuthorizationRequest['prompt'],
  asked?: string,
): Response => {
  const address = loginAddress(text, server, prompt, asked)
  if (address.length > maxLoginLength)
    throw new OAuthError(
      'invalid_request',
      'The authorization request is too long for a redirect to the login page. The application can push the request (RFC 9126).',
    )
  return redirectResponse({ page: address }, server)
}

/**
 * Returns the URL of the login page. After the login, the browser sends the request again, without secrets.
 * @param prompt the prompts of the request. With `login`, the login page shows its form even to a logged-in user
 * @param asked the value of `login_again`. If `prompt` contains `login` and this value is missing, the repeated request
 * retains no prompt except `consent`
 */
const loginAddress = (
  text: string,
  server: ServerContext,
  prompt: AuthorizationRequest['prompt'] = [],
  asked?: string,
): string =>
  withQuery(server.ui.links.login, {
    next: requestAgain(text, server, prompt, asked),
    prompt: prompt.includes('login') ? 'login' : undefined,
  })

/** Returns the URL with which the browser sends the request again. The parameters are those of `loginAddress`. */
const requestAgain = (
  text: string,
  { settings, basePath }: ServerContext,
  prompt: AuthorizationRequest['prompt'],
  asked?: string,
): string => {
  const isDone = prompt.includes('login') && asked === undefined
  const pairs = text
    .split('&')
    .filter((pair) => !notRepeated.some((name) => isNamed(pair, name)))
    .filter((pair) => !(isDone && isNamed(pair, 'prompt')))
  const added = isDone && prompt.includes('consent') ? ['prompt=consent'] : []
  if (asked !== undefined) added.push(`${loginAgain}=${asked}`)
  const query = [...pairs, ...added].join('&').replaceAll(unfitForUrl, encodeURIComponent)
  return `${basePath}${settings.oauthPrefix}/authorize?${query}`
}

// Characters that must be encoded in a URL. Some clients do not encode them, and a POST body may contain them.
const unfitForUrl = /[^\x21\x22\x24-\x5B\x5D-\x7E]/gu

/**
 * Sets parameters of a query.
 * @param added the values by the name of the parameter. The values must need no encoding
 */
const withParameters = (text: string, added: Readonly<Record<string, string>> = {}): string => {
  const names = Object.keys(added)
  const kept = text.split('&').filter((pair) => !names.some((name) => isNamed(pair, name)))
  return [...kept, ...names.map((name) => `${name}=${added[name]}`)].join('&')
}
