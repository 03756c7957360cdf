import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { Answer } from '../http/answer.ts'
import type { AuthorizationServer } from '../server/authorization-server.ts'
import type { SentCredentials } from './caller.ts'
import { allHeaders, hadBody, NodeSource, rawHeader } from './node-source.ts'

/** The target that the client sent, before any mounting: routers of a framework rewrite `url`. */
export const sentTarget = (request: IncomingMessage & { readonly originalUrl?: string }): string =>
  request.originalUrl ?? request.url ?? '/'

/** The same without a host: an absolute target may name any, and none of it is for us, or for a log. */
export const targetOf = (request: IncomingMessage): string =>
  sentTarget(request).replace(origin, '') || '/'

/** The few strings of a Node request that guards read. */
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

/** The path of a request target, whatever host an absolute one names. */
export const pathOf = (target: string): string => target.replace(origin, '').replace(/[?#].*$/s, '')

/** Answers a Node request, also where a body parser has drained it: at once where that can be, else through `fetch`. */
export const answer = (
  server: Pick<AuthorizationServer, 'fetch' | 'direct'>,
): ((request: IncomingMessage, response: ServerResponse, raw?: unknown) => Promise<void>) => {
  const raws = new WeakMap<object, unknown>()
  const listener = getRequestListener(
    async (request, { incoming, outgoing }) => {
      const answer = await server.fetch(request, {
        remoteAddress: incoming.socket.remoteAddress,
        raw: raws.get(incoming) ?? incoming,
        // Where the application names its requests, it says so in its answers.
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

const send = async (answer: Answer | Response, response: ServerResponse): Promise<void> => {
  const { status, headers, body } =
    answer instanceof Answer
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

// Cookies of ours would take the place of those that the application has set already.
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
  else if (typeof body === 'object' && body !== null) request.rawBody = Buffer.from(formOf(body))
  else
    throw new Error(
      'Something has read the body of the request before mount(server), and kept nothing of it.',
    )
}

// A parser has lost how the form was written. A list meant a repeated or bracketed name, neither of which
// we take for a single value: it is written twice, so that the protocol refuses it.
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
