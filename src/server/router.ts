import { setImmediate as nextTurn } from 'node:timers/promises'
import { Hono, type MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { FairQueue } from '../crypto/passwords/fair-queue.ts'
import { addressesOf, addressWith } from '../http/addresses.ts'
import { Answer } from '../http/answer.ts'
import { asOAuthError, logRefusal, refusalOf } from '../http/refusal.ts'
import { type Connection, FetchSource, HttpRequest, type RequestSource } from '../http/request.ts'
import { noteHttp } from '../http/request-scope.ts'
import { checkTarget, partsOf } from '../http/request-target.ts'
import { siteNetworkOf } from '../model/network.ts'
import { OAuthError } from '../model/oauth-error.ts'
import { jsonAnswer, movedAnswer } from '../protocol/endpoints/responses/answers.ts'
import { asksForPage, prefersJson } from '../protocol/endpoints/responses/prefers-json.ts'
import { notFound, problemOf, renderProblem } from '../protocol/endpoints/responses/problem.ts'
import type { Endpoint } from '../protocol/plug-ins.ts'
import type { ServerContext } from '../protocol/server-context.ts'
import { clientAddress } from '../protocol/session/client-address.ts'
import { type Observers, observeRequests } from './telemetry/requests.ts'

type Env = {
  Bindings: {
    readonly connection: Connection
    /** Told which pattern the address has. */
    readonly matched: (route: string) => void
  }
}

export interface Router {
  /** Whether an address is one of ours: a host passes everything else on. */
  handles(path: string): boolean
  readonly addresses: readonly string[]
  fetch(request: Request, connection?: Connection): Promise<Response>
  /**
   * Answers a request to an address for programs, past the router, and refuses targets that only their raw form
   * gives away; undefined for every other request.
   */
  direct(source: RequestSource, connection: Connection): Promise<Answer | Response> | undefined
}

const responseOf = (answer: Answer | Response): Response =>
  answer instanceof Answer ? answer.toResponse() : answer

/** Where an endpoint stands: one path, or every form of a well-known address (RFC 8414 §3.1, RFC 9728 §3.1). */
const pathsOf = (endpoint: Endpoint, server: ServerContext): readonly string[] => {
  const own = endpoint.path(server.settings)
  if (!endpoint.wellKnown) return [`${server.basePath}${own}`]
  const { origin } = new URL(server.issuer)
  const paths = endpoint.wellKnown(server).flatMap((identifier) => {
    const about = new URL(identifier)
    if (about.origin !== origin) return []
    // RFC 9728 §3.1: of the host alone, the slash is removed.
    const path = about.pathname === '/' ? '' : about.pathname
    return path.endsWith('/') ? [`${own}${path}`] : [`${own}${path}`, `${path}${own}`]
  })
  return [...new Set([own, ...paths])]
}

const readableHeaders = ['WWW-Authenticate', 'DPoP-Nonce', 'Retry-After']

const crossOrigin = cors({
  origin: (origin) => (origin === 'null' ? null : '*'),
  allowMethods: ['GET', 'POST', 'PUT', 'DELETE'],
  allowHeaders: ['Authorization', 'Content-Type', 'DPoP', 'MCP-Protocol-Version'],
  exposeHeaders: readableHeaders,
  maxAge: 86_400,
})

// Also without an Origin header.
const readable = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': readableHeaders.join(','),
}

/** Scripts of any origin, but for those that hide theirs; a browser sends nothing of its own along. */
const anyOrigin: MiddlewareHandler = (context, next) => {
  const { method, raw } = context.req
  // Only the question of a browser whether it may ask is answered here.
  const isQuestion = raw.headers.has('access-control-request-method')
  return method === 'OPTIONS' && !isQuestion ? next() : crossOrigin(context, next)
}

/** Leads requests to endpoints, and their errors to where each endpoint delivers them. */
export const createRouter = (server: ServerContext, observers: Observers): Router => {
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
  ): Answer | Promise<Response> => {
    const refusal = refusalOf(error)
    logRefusal(log, error, refusal)
    const { status, headers, body } = refusal ?? unexpected
    if (errors !== 'page' || prefersJson(http)) return jsonAnswer(body, status, headers)
    const name = problemOf(status)
    const saysMore = name === 'badRequest' || name === 'tooLarge' || name === 'wrongMethod'
    const known = asOAuthError(error)
    const details = saysMore && known instanceof Error ? known.message : undefined
    return renderProblem(http, server, name, { status, headers, details })
  }

  const pageTurn = pageTurns()

  // Patterns last: what they would match may be an address of its own.
  const routes = endpoints
    .flatMap((endpoint) => pathsOf(endpoint, server).map((path) => ({ endpoint, path })))
    .sort((a, b) => Number(a.path.includes(':')) - Number(b.path.includes(':')))

  const handle = async (endpoint: Endpoint, http: HttpRequest): Promise<Answer | Response> => {
    try {
      return await endpoint.handle(http, server)
    } catch (error) {
      return failed(error, http, endpoint)
    }
  }

  // Those for programs, at one address each: found without a router.
  const programs = new Map<string, Endpoint>()
  for (const { endpoint, path } of routes) {
    const isForPrograms = endpoint.errors === 'json' && !path.includes(':')
    if (isForPrograms && !programs.has(path)) programs.set(path, endpoint)
    if (endpoint.cors) app.use(path, anyOrigin)
    app.on([...endpoint.methods], path, async ({ req, env }) => {
      env.matched(path)
      const http = httpOf(req.raw, env, req.param())
      if (!isReadable(http.path)) return responseOf(await failed(notFound(), http, endpoint))
      if (endpoint.errors === 'page') await pageTurn(http.address)
      return responseOf(await handle(endpoint, http))
    })
    const allow = endpoint.methods
      .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
      .join(', ')
    app.all(path, async ({ req, env }) => {
      env.matched(path)
      const details = `Allowed: ${allow}.`
      const error = new OAuthError('invalid_request', details, { status: 405, headers: { allow } })
      const http = httpOf(req.raw, env)
      const { errors } = endpoint
      return responseOf(await failed(error, http, { errors: asksForPage(http) ? errors : 'json' }))
    })
    // An identifier with a slash is another one than that without.
    if (path.endsWith('/') && path.length > 1 && !endpoint.wellKnown) {
      app.all(path.slice(0, -1), ({ req, env }) => {
        env.matched(path)
        const { path: asked, query } = httpOf(req.raw, env)
        return movedAnswer(addressWith(`${asked}/`, query))
      })
    }
  }
  app.notFound(async ({ req, env }) =>
    responseOf(await failed(notFound(), httpOf(req.raw, env), { errors: 'page' })),
  )
  app.onError(async (error, { req, env }) =>
    responseOf(await failed(error, httpOf(req.raw, env), { errors: 'json' })),
  )

  const refusedTarget = (source: RequestSource, connection: Connection) => {
    const refusal = targetRefusal(source.target)
    if (refusal === undefined) return undefined
    return observed<Answer | Response>(source, connection, () =>
      failed(refusal, httpFrom(source, connection), { errors: 'page' }),
    )
  }

  const addresses = addressesOf(
    routes.map(({ path }) => path),
    { root: `${basePath}/`, prefix: `${basePath}${settings.oauthPrefix}/` },
  )
  return {
    handles: addresses.handles,
    addresses: addresses.list,
    fetch(request, connection = {}) {
      const refused = refusedTarget(new FetchSource(request, connection.target), connection)
      if (refused) return refused.then(responseOf)
      return observed(new FetchSource(request), connection, (matched) =>
        app.fetch(request, { connection, matched }),
      )
    },
    direct(source, connection) {
      const refused = refusedTarget(source, connection)
      if (refused) return refused
      const { path } = partsOf(source.target)
      const endpoint = programs.get(path)
      const isOurs = source.method === 'POST' && endpoint?.methods.includes('POST')
      // What else a browser is told, the router knows.
      if (!endpoint || !isOurs || source.header('origin') !== null) return undefined
      return observed(source, connection, async (matched) => {
        matched(path)
        const answer = await handle(endpoint, httpFrom(source, connection))
        return endpoint.cors && answer instanceof Answer ? answer.with(readable) : answer
      })
    },
  }
}

/**
 * Waits for a turn of the event loop: one page is made in each, in turns between networks. So programs, and browsers of
 * other networks, do not wait until all pages are made that somebody asks for at once.
 */
const pageTurns = (): ((address: string) => Promise<void>) => {
  const full = () => new Error('Any number of pages may wait.')
  const queue = new FairQueue({ atOnce: 1, longest: Number.POSITIVE_INFINITY, full })
  return (address) => queue.run({ lane: siteNetworkOf(address), isKnown: false }, () => nextTurn())
}

const targetRefusal = (target: string): unknown => {
  try {
    checkTarget(target)
    return undefined
  } catch (error) {
    return error
  }
}

// No identifier of ours has such characters, and not every database takes them.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is being refused
const control = /[\u0000-\u001F\u007F]/

const isReadable = (path: string): boolean => {
  try {
    return !control.test(decodeURIComponent(path))
  } catch {
    return false
  }
}

const unexpected = {
  status: 500,
  headers: {},
  body: { error: 'server_error', error_description: 'Something went wrong on our side.' },
}
