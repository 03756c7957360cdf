import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { mediaTypeOf } from '../http/media-type.ts'
import { HttpResponse } from '../http/response.ts'
import type { AuthorizationServer } from '../server/authorization-server.ts'
import { allowOrigin, isCorsHeader, isOneOrigin, type SentCredentials } from './caller.ts'
import {
  allHeaders,
  hasBody,
  type NodeRequest,
  NodeSource,
  rawHeader,
  readBody,
} from './node-source.ts'

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
 * Creates a handler that passes Node requests to `server.direct` if possible, and otherwise to `server.fetch`.
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
      const hasTheirs = keepsTheirOrigin(answer.headers.has(allowOrigin), outgoing)
      if (hasTheirs) answer.headers.delete(allowOrigin)
      return withCookies(answer, outgoing.getHeader('set-cookie'))
    },
    { overrideGlobalObjects: false, hostname: 'localhost' },
  )
  return async (request, response, raw = request) => {
    const target = sentTarget(request)
    request.url = targetOf(request)
    const body = bodyOf(request)
    // A refused request does not wait for its body.
    body?.catch(() => undefined)
    const source = new NodeSource(request, target, body)
    const direct = server.direct(source, {
      remoteAddress: request.socket.remoteAddress,
      raw,
      requestId: response.getHeader('x-request-id')?.toString(),
    })
    if (direct) return send(await direct, response)
    raws.set(request, raw)
    if (body) {
      const rawBody = await body.catch(() => undefined)
      // Without the whole body, nobody waits for the response.
      if (!rawBody) return void response.destroy()
      Object.assign(request, { rawBody })
    }
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
  const sent: OutgoingHttpHeaders = { ...headers, 'content-length': Buffer.byteLength(body) }
  if (keepsTheirOrigin(allowOrigin in headers, response)) delete sent[allowOrigin]
  response.writeHead(status, sent)
  response.end(body)
}

/**
 * Returns whether a response keeps the origin that CORS middleware of the application has allowed. An application may
 * allow credentials, which browsers refuse together with `*`. Removes the CORS headers of the application from a
 * response that scripts of other sites must not read, such as a page (RFC 9700 §2.6).
 * @param isOpen whether scripts of every site may read the response
 */
const keepsTheirOrigin = (
  isOpen: boolean,
  response: Pick<ServerResponse, 'getHeader' | 'getHeaderNames' | 'removeHeader'>,
): boolean => {
  const theirs = response.getHeader(allowOrigin)
  if (isOpen) return isOneOrigin(theirs)
  for (const name of response.getHeaderNames()) if (isCorsHeader(name)) response.removeHeader(name)
  return false
}

const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

// Adds the cookies that the application has already set, because the listener would replace these cookies.
const withCookies = (answer: Response, theirs: number | string | string[] = []): Response => {
  if (!answer.headers.has('set-cookie')) return answer
  const copy = new Response(answer.body, answer)
  for (const cookie of [theirs].flat()) copy.headers.append('set-cookie', String(cookie))
  return copy
}

/**
 * Returns the body; undefined for a request without a body. Reads the body at once, because middleware of the application
 * may have paused it, or may let it flow to listeners of its own. Restores a body that a body parser has already read.
 */
const bodyOf = (request: NodeRequest): Promise<Buffer> | undefined => {
  if (!hasBody(request)) return undefined
  if (Buffer.isBuffer(request.rawBody)) return Promise.resolve(request.rawBody)
  return request.readableEnded ? Promise.resolve(restoredBody(request)) : readBody(request)
}

const restoredBody = (request: NodeRequest): Buffer => {
  // The application may keep the text of the body, for instance to verify the signature of a webhook.
  const body = request.rawBody ?? request.body
  if (Buffer.isBuffer(body)) return body
  if (typeof body === 'string') return Buffer.from(body)
  if (typeof body === 'object' && body !== null)
    return Buffer.from(isJson(request) ? JSON.stringify(body) : formOf(body))
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
