import { Hono } from 'hono'
import { jsonAnswer, pageAnswer } from './endpoints/answers.ts'
import type { Endpoint, ServerContext } from './extension.ts'
import { type Connection, HttpRequest } from './http-request.ts'
import { messages } from './pages/messages.ts'
import { problemPage } from './pages/problem.ts'
import { logRefusal, refusalOf } from './refusal.ts'
import { clientAddress } from './session/client-address.ts'

type Env = { Bindings: { readonly connection: Connection } }

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

  const failed = (
    error: unknown,
    { errors }: Pick<Endpoint, 'errors'>,
  ): Response | Promise<Response> => {
    const refusal = refusalOf(error)
    logRefusal(log, error, refusal)
    const { status, headers, body } = refusal ?? unexpected
    if (errors !== 'page') return jsonAnswer(body, status, headers)
    const { problem } = messages
    const sentence =
      refusal && status < 500 && error instanceof Error
        ? error.message
        : status === 503
          ? problem.unavailable
          : problem.failed
    return pageAnswer(problemPage({ base: server.pageBase, title: problem.title, sentence }), {
      status,
      headers,
    })
  }

  for (const endpoint of endpoints) {
    const allow = endpoint.methods
      .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
      .join(', ')
    for (const path of pathsOf(endpoint, server)) {
      app.on([...endpoint.methods], path, async ({ req, env }) => {
        try {
          const address = addressOf(
            env.connection.remoteAddress,
            req.raw.headers.get('x-forwarded-for'),
          )
          return await endpoint.handle(
            new HttpRequest(req.raw, address, env.connection.raw),
            server,
          )
        } catch (error) {
          return failed(error, endpoint)
        }
      })
      app.all(path, () =>
        jsonAnswer({ error: 'invalid_request', error_description: `Allowed: ${allow}.` }, 405, {
          allow,
        }),
      )
    }
  }
  app.notFound(() => {
    const { notFound, notFoundTitle } = messages.problem
    return pageAnswer(
      problemPage({ base: server.pageBase, title: notFoundTitle, sentence: notFound }),
      { status: 404 },
    )
  })
  app.onError((error) => failed(error, { errors: 'json' }))

  const prefix = `${basePath}${settings.oauthPrefix}/`
  const paths = endpoints.flatMap((endpoint) => pathsOf(endpoint, server))
  const exact = new Set(paths.filter((path) => !path.startsWith(prefix)))
  return {
    handles: (path) => exact.has(path) || path.startsWith(prefix),
    addresses: [...exact, `${prefix}*`],
    fetch: async (request, connection = {}) => app.fetch(request, { connection }),
  }
}

const unexpected = {
  status: 500,
  headers: {},
  body: { error: 'server_error', error_description: 'Something went wrong on our side.' },
}
