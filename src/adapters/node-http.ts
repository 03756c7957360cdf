import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { mediaTypeOf } from '../http/media-type.ts'
import { HttpResponse } from '../http/response.ts'
import type { AuthorizationServer } from '../server/authorization-server.ts'
import type { SentCredentials } from './caller.ts'
import { allHeaders, hadBody, NodeSource, rawHeader } from './node-source.ts'

/** Returns the request target as the client sent it. Routers store it in `originalUrl` when they rewrite `url`. */
export const sentTarget = (request: IncomingMessage & { readonly originalUrl?: string }): string =>
  request.originalUrl ?? request.url ?? '/'

/** Returns the request target without a host, because the sender of an absolute target can forge its host. */
export const targetOf = (request: IncomingMessage): string =>
  sentTarget(request).replace(origin, '') || '/'

/** Returns the parts of a Node request that the authentication reads. */
export const credentialsOf = (
  request: IncomingMessage,
  server: Pick<AuthorizationServer, 'clientAddress'>,
  raw: unknown = request,
): SentCredentials => {
  const target = targetOf(request)
  const mark = target.indexOf('?')
  return {
    target: sentTarget(request),
    authorization: rawHeader(request, 'authorization'),
    cookie: request.headers.cookie ?? null,
    method: request.method ?? 'GET',
    path: mark < 0 ? target : target.slice(0, mark),
    query: mark < 0 ? '' : target.slice(mark + 1),
    address: server.clientAddress(
      request.socket.remoteAddress,
      rawHeader(request, 'x-forwarded-for'),
    ),
    userAgent: request.headers['user-agent'] ?? '',
    raw,
    headers: () => allHeaders(request),
  }
}

/** Returns the path of a request target, without a host. */
export const pathOf = (target: string): string => target.replace(origin, '').replace(/[?#].*$/s, '')

/**
 * Creates a handler that passes Node requests to `server.direct` if possible, and otherwise to `server.fetch`. Restores
 * the body if a body parser has already read the body.
 */
export const respond = (
  server: Pick<AuthorizationServer, 'fetch' | 'direct'>,
): ((request: IncomingMessage, response: ServerResponse, raw?: unknown) => Promise<void>) => {
  const raws = new WeakMap<object, unknown>()
  const listener = getRequestListener(
    async (request, { incoming, outgoing }) => {
      const answer = await server.fetch(request, {
        remoteAddress: incoming.socket.remoteAddress,
        raw: raws.get(incoming) ?? incoming,
        // The application may have set its request ID as a response header.
        requestId: outgoing.getHeader('x-request-id')?.toString(),
      })
      return withCookies(answer, outgoing.getHeader('set-cookie'))
    },
    { overrideGlobalObjects: false, hostname: 'localhost' },
  )
  return async (request, response, raw = request) => {
    const source = new NodeSource(request, sentTarget(request))
    request.url = targetOf(request)
    restoreBody(request)
    const direct = server.direct(source, {
      remoteAddress: request.socket.remoteAddress,
      raw,
      requestId: response.getHeader('x-request-id')?.toString(),
    })
    if (direct) return send(await direct, response)
    raws.set(request, raw)
    await listener(request, response)
  }
}

const send = async (answer: HttpResponse | Response, response: ServerResponse): Promise<void> => {
  const { status, headers, body } =
    answer instanceof HttpResponse
      ? answer
      : {
          status: answer.status,
          headers: Object.fromEntries(answer.headers),
          body: Buffer.from(await answer.arrayBuffer()),
        }
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

// Adds the cookies that the application has already set, because the listener would replace these cookies.
const withCookies = (answer: Response, theirs: number | string | string[] = []): Response => {
  if (!answer.headers.has('set-cookie')) return answer
  const copy = new Response(answer.body, answer)
  for (const cookie of [theirs].flat()) copy.headers.append('set-cookie', String(cookie))
  return copy
}

type Drained = IncomingMessage & { readonly body?: unknown; rawBody?: Buffer }

const restoreBody = (request: Drained): void => {
  if (!request.readableEnded || request.rawBody !== undefined || !hadBody(request)) return
  const { body } = request
  if (Buffer.isBuffer(body)) request.rawBody = body
  else if (typeof body === 'string') request.rawBody = Buffer.from(body)
  else if (typeof body === 'object' && body !== null)
    request.rawBody = Buffer.from(isJson(request) ? JSON.stringify(body) : formOf(body))
  else
    throw new Error(
      'The body of the request was read before mount(server), and request.body does not contain it. Move mount(server) before the middleware that reads the body.',
    )
}

const isJson = ({ headers }: IncomingMessage): boolean =>
  mediaTypeOf(headers['content-type'] ?? '')?.type === 'application/json'

// Restores the text of a form from the result of a body parser. If a value is a list, the sender repeated the parameter
// or added brackets to its name. Append every item twice, so that the protocol refuses the repeated parameter.
const formOf = (body: object): string => {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(body)) {
    if (typeof value === 'string') form.append(name, value)
    else if (Array.isArray(value))
      for (const item of [...value, ...value]) form.append(name, String(item))
    else form.append(`${name}[]`, '')
  }
  return form.toString()
}
