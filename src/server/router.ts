import { setImmediate as nextTurn } from 'node:timers/promises'
import { Hono, type MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { checkConnection } from '../http/check-connection.ts'
import { asOAuthError, logRefusal, refusalOf } from '../http/refusal.ts'
import { type Connection, FetchSource, HttpRequest, type RequestSource } from '../http/request.ts'
import { noteHttp, noteRoute } from '../http/request-scope.ts'
import { addressesOf, addressWith, checkTarget, partsOf } from '../http/request-target.ts'
import { HttpResponse } from '../http/response.ts'
import { checkHeaderLengths } from '../model/bounds.ts'
import { siteNetworkOf } from '../model/network.ts'
import { OAuthError } from '../model/oauth-error.ts'
import { answerOnce } from '../protocol/endpoints/forms/repeated-form.ts'
import { asksForPage, prefersJson } from '../protocol/endpoints/responses/prefers-json.ts'
import {
  notFound,
  nothing,
  problemOf,
  renderProblem,
} from '../protocol/endpoints/responses/problem.ts'
import { jsonResponse, movedResponse } from '../protocol/endpoints/responses/responses.ts'
import type { Endpoint } from '../protocol/plug-ins.ts'
import type { ServerContext } from '../protocol/server-context.ts'
import { clientAddress } from '../protocol/session/client-address.ts'
import { FairQueue } from '../queues/fair-queue.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import { type Observers, observeRequests } from './telemetry/observers.ts'

type Env = {
  Bindings: { readonly connection: Connection }
}

/** The members of the server that handle requests. */
type Router = Pick<AuthorizationServer, 'handles' | 'addresses' | 'fetch' | 'direct'>

const responseOf = (response: HttpResponse | Response): Response =>
  response instanceof HttpResponse ? response.toResponse() : response

/**
 * Returns the paths of an endpoint. A well-known document has several paths (RFC 8414 §3.1, RFC 9728 §3.1).
 */
const pathsOf = (endpoint: Endpoint, server: ServerContext): readonly string[] => {
  const own = endpoint.path(server.settings)
  if (!endpoint.wellKnown) return [`${server.basePath}${own}`]
  const { origin } = new URL(server.issuer)
  const paths = endpoint.wellKnown(server).flatMap((identifier) => {
    const about = new URL(identifier)
    if (about.origin !== origin) return []
    // RFC 9728 §3.1: the final slash of an identifier without a path is removed.
    const path = about.pathname === '/' ? '' : about.pathname
    return path.endsWith('/') ? [`${own}${path}`] : [`${own}${path}`, `${path}${own}`]
  })
  return [...new Set([own, ...paths])]
}

const readableHeaders = ['WWW-Authenticate', 'DPoP-Nonce', 'Retry-After']

const crossOrigin = cors({
  origin: (origin) => (origin === 'null' ? null : '*'),
  allowMethods: ['GET', 'POST', 'PUT', 'DELETE'],
  // The empty list allows all requested headers. Tools such as Swagger UI and tracing libraries add custom headers, which
  // are harmless without the browser's credentials.
  allowHeaders: [],
  exposeHeaders: readableHeaders,
  maxAge: 86_400,
})

// The headers that `crossOrigin` adds to the response for a request without an Origin header. `direct` adds these
// headers, because it bypasses `crossOrigin`.
const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': readableHeaders.join(','),
}

/**
 * Lets scripts of every origin except `null` read the responses. Credentials are not allowed, so browsers hide the
 * response to a request with cookies.
 */
const anyOrigin: MiddlewareHandler = (context, next) => {
  const { method, raw } = context.req
  // Respond to CORS preflights here. The endpoint handles all other OPTIONS requests.
  const isPreflight = raw.headers.has('access-control-request-method')
  return method === 'OPTIONS' && !isPreflight ? next() : crossOrigin(context, next)
}

/** Routes requests to endpoints, and renders errors in the format of the endpoint. */
export const createRouter = (
  server: ServerContext,
  observers: Pick<Observers, 'telemetry' | 'log'>,
): Router => {
  const { settings, basePath, endpoints, log } = server
  const app = new Hono<Env>()
  const addressOf = clientAddress(settings.trustedProxies)
  const observed = observeRequests(observers)

  const httpFrom = (
    source: RequestSource,
    { remoteAddress, raw }: Connection,
    params?: Readonly<Record<string, string>>,
  ): HttpRequest => {
    const address = addressOf(remoteAddress, source.header('x-forwarded-for'))
    const http = new HttpRequest(source, address, raw, params)
    noteHttp(http)
    return http
  }
  const httpOf = (
    request: Request,
    { connection }: Env['Bindings'],
    params?: Readonly<Record<string, string>>,
  ): HttpRequest =>
    httpFrom(new FetchSource(request), { ...connection, raw: connection.raw ?? request }, params)

  const failed = (
    error: unknown,
    http: HttpRequest,
    { errors }: Pick<Endpoint, 'errors'>,
  ): HttpResponse | Promise<Response> => {
    const refusal = refusalOf(error)
    logRefusal(log, error, refusal)
    const { status, headers, body } = refusal ?? unexpected
    if (errors !== 'page' || prefersJson(http)) return jsonResponse(body, status, headers)
    const name = problemOf(status)
    const showsDetails = name === 'badRequest' || name === 'tooLarge' || name === 'wrongMethod'
    const oauthError = asOAuthError(error)
    const details = showsDetails && oauthError instanceof Error ? oauthError.message : undefined
    return renderProblem(http, server, name, { status, headers, details })
  }

  const waitForPageTurn = pageTurns()

  // Register paths with parameters last, because these paths may match the exact path of another endpoint.
  const routes = endpoints
    .flatMap((endpoint) => pathsOf(endpoint, server).map((path) => ({ endpoint, path })))
    .sort((a, b) => Number(a.path.includes(':')) - Number(b.path.includes(':')))

  const handle = async (
    endpoint: Endpoint,
    http: HttpRequest,
    work: () => HttpResponse | Response | Promise<HttpResponse | Response> = () =>
      endpoint.handle(http, server),
  ): Promise<HttpResponse | Response> => {
    try {
      return await work()
    } catch (error) {
      return failed(error, http, endpoint)
    }
  }

  // JSON endpoints whose path has no parameters. `direct` calls them without the router.
  const jsonEndpoints = new Map<string, Endpoint>()
  const forPrograms = new Set(
    routes.flatMap(({ endpoint, path }) => (endpoint.errors === 'page' ? [] : [path])),
  )
  for (const { endpoint, path } of routes) {
    const isExactJson = endpoint.errors === 'json' && !path.includes(':')
    if (isExactJson && !jsonEndpoints.has(path)) jsonEndpoints.set(path, endpoint)
    if (endpoint.cors) app.use(path, anyOrigin)
    app.on([...endpoint.methods], path, async ({ req, env }) => {
      noteRoute(path)
      const http = httpOf(req.raw, env, req.param())
      if (!isReadable(http.path)) return responseOf(await failed(notFound(), http, endpoint))
      if (endpoint.errors !== 'page') return responseOf(await handle(endpoint, http))
      await waitForPageTurn(http.address)
      const once = () => answerOnce(http, server, () => handle(endpoint, http))
      return responseOf(await handle(endpoint, http, http.method === 'POST' ? once : undefined))
    })
    const allow = endpoint.methods
      .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
      .join(', ')
    app.all(path, async ({ req, env }) => {
      noteRoute(path)
      const details = `Allowed: ${allow}.`
      const error = new OAuthError('invalid_request', details, { status: 405, headers: { allow } })
      const http = httpOf(req.raw, env)
      const { errors } = endpoint
      return responseOf(await failed(error, http, { errors: asksForPage(http) ? errors : 'json' }))
    })
    // Redirect a request whose path lacks the final slash. Do not redirect well-known paths. Those paths end with an
    // identifier, and the identifier without the slash is a different identifier.
    if (path.endsWith('/') && path.length > 1 && !endpoint.wellKnown) {
      app.all(path.slice(0, -1), ({ req, env }) => {
        noteRoute(path)
        const { path: requested, query } = httpOf(req.raw, env)
        return movedResponse(addressWith(`${requested}/`, query), server)
      })
    }
  }
  // Browsers open pages by GET, and send forms with an `Accept` header that lists HTML. All other requests are from
  // programs, which cannot read a page.
  const errorsFor = (http: HttpRequest, path = http.path): Pick<Endpoint, 'errors'> => {
    const isRead = http.method === 'GET' || http.method === 'HEAD'
    const isPage = asksForPage(http) || (isRead && !forPrograms.has(path))
    return { errors: isPage ? 'page' : 'json' }
  }
  app.notFound(async ({ req, env }) => {
    const http = httpOf(req.raw, env)
    // Some programs add a slash to the address of an endpoint that responds with JSON, and some proxies remove the path of
    // the issuer.
    const exact = http.path.replace(/\/$/, '')
    const meant = [exact, `${basePath}${exact}`].find((path) => forPrograms.has(path))
    const why = meant === exact ? 'without a slash' : `and a proxy must not remove ${basePath}`
    const error = meant ? notFound(`${nothing} The endpoint is ${meant}, ${why}.`) : notFound()
    return responseOf(await failed(error, http, errorsFor(http, meant)))
  })
  app.onError(async (error, { req, env }) =>
    responseOf(await failed(error, httpOf(req.raw, env), { errors: 'json' })),
  )

  /** Answers a request that the server must not read further; undefined for any other request. */
  const refusedAtOnce = (source: RequestSource, connection: Connection) => {
    try {
      checkHeaderLengths(source.headerValues)
      checkTarget(source.target)
      return undefined
    } catch (refusal) {
      return observed<HttpResponse | Response>(source, connection, () => {
        const http = httpFrom(source, connection)
        return failed(refusal, http, errorsFor(http))
      })
    }
  }

  const addresses = addressesOf(
    routes.map(({ path }) => path),
    {
      roots: [`${basePath}/`, `${basePath}${settings.settingsPrefix}/`],
      prefix: `${basePath}${settings.oauthPrefix}/`,
    },
  )
  return {
    handles: addresses.handles,
    addresses: addresses.list,
    fetch(request, connection = {}) {
      checkConnection(connection)
      const refused = refusedAtOnce(new FetchSource(request, connection.target), connection)
      if (refused) return refused.then(responseOf)
      return observed(new FetchSource(request), connection, () =>
        app.fetch(request, { connection }),
      )
    },
    // Handles a POST request to a JSON endpoint without the router, if the request has no header `Origin`. Also refuses
    // invalid request targets that a `Request` object would normalize.
    direct(source, connection) {
      const refused = refusedAtOnce(source, connection)
      if (refused) return refused
      const { path } = partsOf(source.target)
      const endpoint = jsonEndpoints.get(path)
      const isPost = source.method === 'POST' && endpoint?.methods.includes('POST')
      // Requests with an Origin header need the router, which adds their CORS headers.
      if (!endpoint || !isPost || source.header('origin') !== null) return undefined
      return observed(source, connection, async () => {
        noteRoute(path)
        const response = await handle(endpoint, httpFrom(source, connection))
        return endpoint.cors && response instanceof HttpResponse
          ? response.with(corsHeaders)
          : response
      })
    },
  }
}

/**
 * Returns a function that waits until the next page may be rendered. At most one page begins per turn of the event
 * loop, so that many page requests do not delay JSON requests. The queue alternates between client networks, so that a
 * network with many requests does not delay the pages of other networks.
 */
const pageTurns = (): ((address: string) => Promise<void>) => {
  const queue = new FairQueue({ maxRunning: 1 })
  return (address) => queue.run({ lane: siteNetworkOf(address) }, () => nextTurn())
}

// Respond with 404 to a path that contains control characters. No identifier contains these characters, and some
// databases reject them.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds characters to refuse
const controlCharacters = /[\u0000-\u001F\u007F]/

const isReadable = (path: string): boolean => {
  try {
    return !controlCharacters.test(decodeURIComponent(path))
  } catch {
    return false
  }
}

const unexpected = {
  status: 500,
  headers: {},
  body: { error: 'server_error', error_description: 'Something went wrong on our side.' },
}
