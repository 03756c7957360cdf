import { Hono } from 'hono'
import { addressesOf, addressWith } from './addresses.ts'
import { jsonAnswer, movedAnswer } from './endpoints/answers.ts'
import { asksForPage, prefersJson } from './endpoints/prefers-json.ts'
import { notFound, problemOf, renderProblem } from './endpoints/problem.ts'
import type { Endpoint, ServerContext } from './extension.ts'
import { type Connection, HttpRequest } from './http-request.ts'
import { OAuthError } from './oauth-error.ts'
import { asOAuthError, logRefusal, refusalOf } from './refusal.ts'
import { clientAddress } from './session/client-address.ts'
import { observeRequests } from './telemetry/requests.ts'

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
}

/** Where an endpoint stands: one path, or the two forms of a well-known address (RFC 8414 §3.1). */
const pathsOf = (
  { path, wellKnown = false }: Endpoint,
  { settings, basePath }: ServerContext,
): readonly string[] => {
  const own = path(settings)
  return wellKnown && basePath !== ''
    ? [`${own}${basePath}`, `${basePath}${own}`]
    : [`${basePath}${own}`]
}

/** Leads requests to endpoints, and their errors to where each endpoint delivers them. */
export const createRouter = (server: ServerContext): Router => {
  const { settings, basePath, endpoints, log } = server
  const app = new Hono<Env>()
  const addressOf = clientAddress(settings.trustedProxies)
  const observed = observeRequests(server)

  const httpOf = (
    request: Request,
    { connection }: Env['Bindings'],
    params?: Readonly<Record<string, string>>,
  ): HttpRequest => {
    const address = addressOf(connection.remoteAddress, request.headers.get('x-forwarded-for'))
    return new HttpRequest(request, address, connection.raw, params)
  }

  const failed = (
    error: unknown,
    http: HttpRequest,
    { errors }: Pick<Endpoint, 'errors'>,
  ): Response | Promise<Response> => {
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

  // Patterns last: what they would match may be an address of its own.
  const routes = endpoints
    .flatMap((endpoint) => pathsOf(endpoint, server).map((path) => ({ endpoint, path })))
    .sort((a, b) => Number(a.path.includes(':')) - Number(b.path.includes(':')))

  for (const { endpoint, path } of routes) {
    app.on([...endpoint.methods], path, async ({ req, env }) => {
      env.matched(path)
      const http = httpOf(req.raw, env, req.param())
      try {
        if (!isReadable(http.path)) throw notFound()
        return await endpoint.handle(http, server)
      } catch (error) {
        return failed(error, http, endpoint)
      }
    })
    const allow = endpoint.methods
      .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
      .join(', ')
    app.all(path, ({ req, env }) => {
      env.matched(path)
      const details = `Allowed: ${allow}.`
      const error = new OAuthError('invalid_request', details, { status: 405, headers: { allow } })
      const http = httpOf(req.raw, env)
      const { errors } = endpoint
      return failed(error, http, { errors: asksForPage(http) ? errors : 'json' })
    })
    if (path.endsWith('/') && path.length > 1) {
      app.all(path.slice(0, -1), ({ req, env }) => {
        env.matched(path)
        const { path: asked, query } = httpOf(req.raw, env)
        return movedAnswer(addressWith(`${asked}/`, query))
      })
    }
  }
  app.notFound(({ req, env }) => failed(notFound(), httpOf(req.raw, env), { errors: 'page' }))
  app.onError((error, { req, env }) => failed(error, httpOf(req.raw, env), { errors: 'json' }))

  const addresses = addressesOf(
    routes.map(({ path }) => path),
    { root: `${basePath}/`, prefix: `${basePath}${settings.oauthPrefix}/` },
  )
  return {
    handles: addresses.handles,
    addresses: addresses.list,
    fetch: (request, connection = {}) =>
      observed(request, connection, (matched) => app.fetch(request, { connection, matched })),
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
