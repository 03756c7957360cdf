import type { Context, MiddlewareHandler } from 'hono'
import { findTargetHandler } from 'hono/utils/handler'
import { jsonText } from '../http/response.ts'
import type { Auth } from '../model/auth.ts'
import { callback, onlyMembers } from '../model/members.ts'
import type { ScopeName } from '../model/scope.ts'
import type { PageSession } from '../protocol/session/page-session.ts'
import type { AuthorizationServer } from '../server/authorization-server.ts'
import { askedBy, asking } from './asked-scopes.ts'
import {
  allowOrigin,
  apiAuth,
  type Caller,
  type Guard,
  identifyAt,
  isCorsHeader,
  isOneOrigin,
  mustBeIdentified,
  mustBePage,
  oauthScopes,
  type RequireApiAuthOptions,
  type RestOptions,
  refusalBy,
  refusalHeaders,
} from './caller.ts'
import { credentialsOf } from './fetch.ts'

// Use the context as the key, because middleware may replace the request. Do not add variables to the type of every
// context. Another package may declare the same variables, and the variables are missing if `rest(server)` did not run.
const callers = new WeakMap<Context, Caller>()
const pages = new WeakMap<Context, PageSession>()

/** The options of the Hono adapter. */
export interface HonoOptions {
  /** Returns the IP address of the peer; default: the address that `@hono/node-server` reports. */
  readonly remoteAddress?: (context: Context) => string | undefined
}

const checkOptions = onlyMembers<HonoOptions>('mount()', { remoteAddress: callback })

interface NodeBindings {
  readonly incoming?: {
    readonly url?: string
    readonly originalUrl?: string
    readonly socket?: { readonly remoteAddress?: string }
  }
}

// Returns the request target as the client sent it. Runtimes other than Node provide only the parsed URL.
const targetOf = ({ env, req }: Context): string => {
  const { originalUrl, url } = (env as NodeBindings | undefined)?.incoming ?? {}
  return originalUrl ?? url ?? req.url
}

const ofNode = ({ env }: Context): string | undefined =>
  (env as NodeBindings | undefined)?.incoming?.socket?.remoteAddress

/** The general extension: handles requests to endpoints and pages of the server, and passes on all other requests. */
export const mount = (
  server: AuthorizationServer,
  options: HonoOptions = {},
): MiddlewareHandler => {
  checkOptions(options)
  const { remoteAddress = ofNode } = options
  return async (context, next) => {
    const target = targetOf(context)
    const { pathname } = new URL(context.req.url)
    if (!server.handles(pathname) && !server.handles(target)) return next()
    const response = await server.fetch(await unread(context), {
      target,
      remoteAddress: remoteAddress(context),
      raw: context,
      // The request ID that Hono's request ID middleware has set, if the application uses this middleware.
      requestId: context.get('requestId'),
    })
    respond(context, response)
  }
}

/** The headers that protect the pages and responses of the server. */
const protective = [
  'cache-control',
  'content-security-policy',
  'referrer-policy',
  'x-content-type-options',
  'x-frame-options',
]

// Sends the response with the headers that middleware has already set. Middleware such as `secureHeaders` sets headers
// after the response. A policy of the application would break or weaken the pages, so keep the policy of the server.
const respond = (context: Context, response: Response): void => {
  const { headers } = response
  // CORS middleware of the application may allow one origin and its credentials, but not on pages (RFC 9700 §2.6).
  const isOpen = headers.has(allowOrigin)
  if (isOpen && isOneOrigin(context.res.headers.get(allowOrigin))) headers.delete(allowOrigin)
  for (const [name, value] of context.res.headers)
    if (name === 'set-cookie' || !headers.has(name)) headers.append(name, value)
  const kept = [...headers].filter(([name]) => protective.includes(name))
  // Without the first assignment, Hono would copy the response, and overwrite its headers.
  context.res = undefined
  context.res = response
  // Every change of the response, and Hono itself, reads this property of the context first.
  const prototype = Object.getPrototypeOf(context)
  Object.defineProperty(context, 'res', {
    configurable: true,
    get() {
      const current: Response = Reflect.get(prototype, 'res', context)
      for (const [name, value] of kept) current.headers.set(name, value)
      if (!isOpen)
        for (const name of [...current.headers.keys()].filter(isCorsHeader))
          current.headers.delete(name)
      return current
    },
    set: (changed: Response | undefined) => Reflect.set(prototype, 'res', changed, context),
  })
}

// Restores a body that middleware has read. Hono caches the text of the body, except after `formData()`: that method
// caches only the parsed form.
const unread = async ({ req }: Context): Promise<Request> => {
  const { raw, method, bodyCache } = req
  if (!raw.bodyUsed) return raw
  if (Object.keys(bodyCache).length === 0)
    throw new Error(
      'The body of the request was read before mount(server). Read it with the methods of c.req instead of c.req.raw, or move mount(server) before the middleware that reads the body.',
    )
  const body =
    bodyCache.formData && !bodyCache.arrayBuffer
      ? new URLSearchParams([...(await req.formData())] as [string, string][])
      : await req.arrayBuffer()
  return new Request(raw.url, { method, headers: raw.headers, body })
}

// Returns the middleware that Hono runs before the handler of a request. The handler is the first function without the
// parameter `next`. Do not use the helper in `hono/route`, because it fails if the application has another copy of
// Hono.
const stepsOf = ({ req }: Context): readonly unknown[] => {
  const steps = req.matchedRoutes.map(({ handler }) => findTargetHandler(handler))
  const answering = steps.findIndex(({ length }) => length < 2)
  return answering < 0 ? steps : steps.slice(0, answering)
}

/**
 * The REST extension: authenticates the caller before any guard. Mount it only for the REST application.
 * @throws TypeError for a resource that the server does not protect
 */
export const rest = (
  server: AuthorizationServer,
  { remoteAddress = ofNode, ...options }: HonoOptions & RestOptions = {},
): MiddlewareHandler => {
  checkOptions({ remoteAddress })
  const identify = identifyAt(server, options)
  return async (context, next) => {
    const target = targetOf(context)
    const connection = { remoteAddress: remoteAddress(context), raw: context, target }
    let caller: Caller
    try {
      const credentials = credentialsOf(context.req.raw, connection, server)
      caller = await identify(credentials, () => askedBy(stepsOf(context)))
      callers.set(context, caller)
      setVariable(context, 'auth', caller.result.auth)
    } catch (error) {
      return refuse(error, server, context)
    }
    await next()
    setHeaders(context, caller.headers)
  }
}

/** Requires an authenticated caller: a session with its JWT, a personal token or an OAuth token. */
export const requireApiAuth = (options?: RequireApiAuthOptions): MiddlewareHandler =>
  guard(apiAuth(options))

/**
 * Requires a session, or a token with all of these scopes.
 * @throws TypeError for an empty list or an empty scope ID
 */
export const requireOauthScopes = (...scopes: readonly ScopeName[]): MiddlewareHandler =>
  guard(oauthScopes(scopes))

/**
 * Requires a session, or a token with at least one of these scopes.
 * @throws TypeError for an empty list or an empty scope ID
 */
export const requireAnyOauthScope = (...scopes: readonly ScopeName[]): MiddlewareHandler =>
  guard(oauthScopes(scopes, { any: true }))

/** Returns the authenticated caller. @throws Error if `rest(server)` did not run before */
export const authOf = (context: Context): Auth => mustBeIdentified(callers.get(context)).result.auth

/**
 * Returns the signed-in user, `jwt()` and `jwtToken()` for a page.
 * @throws Error if `page(server)` did not run before
 */
export const pageOf = (context: Context): PageSession => mustBePage(pages.get(context))

/** Prepares `pageOf(c)` for templates of the application's pages: the signed-in user, `jwt()` and `jwtToken()`. */
export const page = (server: AuthorizationServer, options: HonoOptions = {}): MiddlewareHandler => {
  checkOptions(options)
  const { remoteAddress = ofNode } = options
  return async (context, next) => {
    const connection = { remoteAddress: remoteAddress(context), raw: context }
    let session: PageSession
    try {
      session = await server.pageSession(credentialsOf(context.req.raw, connection, server))
    } catch (error) {
      return refuse(error, server, context)
    }
    pages.set(context, session)
    setVariable(context, 'pageSession', session)
    await next()
    setHeaders(context, { 'cache-control': 'no-store' })
    if (session.setCookie !== undefined)
      context.header('set-cookie', session.setCookie, { append: true })
  }
}

// Avoid the type of `set`, because another package may declare the variable with another type.
const setVariable = (context: Context, name: string, value: unknown): void =>
  (context.set as (name: string, value: unknown) => void)(name, value)

const guard = (rule: Guard): MiddlewareHandler =>
  asking<MiddlewareHandler>(async (context, next) => {
    const caller = mustBeIdentified(callers.get(context))
    const refusal = refusalBy(rule, caller)
    if (refusal) return refuse(refusal, caller.server, context)
    await next()
  }, rule.scopes)

const refuse = (error: unknown, server: AuthorizationServer, context: Context): Response => {
  const refusal = server.refusalOf(error)
  if (!refusal) throw error
  const headers = refusalHeaders(refusal, (name) => context.res.headers.has(name))
  for (const [name, value] of Object.entries(headers)) context.header(name, value)
  context.header('content-type', 'application/json')
  return context.body(jsonText(refusal.body), refusal.status as 401)
}

// Does not replace headers that the application has already set.
const setHeaders = (context: Context, headers: Readonly<Record<string, string>>): void => {
  for (const [name, value] of Object.entries(headers))
    if (!context.res.headers.has(name)) context.header(name, value)
}
