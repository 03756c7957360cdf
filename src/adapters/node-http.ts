import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { AuthorizationServer } from '../authorization-server.ts'
import type { PresentedCredentials } from '../resource-server.ts'

/** Every value of a header, joined by a comma: Node keeps only the first of two `Authorization` headers. */
export const rawHeader = ({ rawHeaders }: IncomingMessage, name: string): string | null => {
  let joined: string | null = null
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() !== name) continue
    const value = rawHeaders[index + 1] ?? ''
    joined = joined === null ? value : `${joined}, ${value}`
  }
  return joined
}

const allHeaders = ({ rawHeaders }: IncomingMessage): Headers => {
  const headers = new Headers()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '')
  }
  return headers
}

/** Cookies of several headers are one list, as HTTP/2 splits them (RFC 9113 §8.2.3). */
const cookieOf = ({ headers }: IncomingMessage): string | null => headers.cookie ?? null

/** The few strings of a Node request that guards read. `target` is what the client sent, before any mounting. */
export const credentialsOf = (
  request: IncomingMessage,
  target: string,
  server: Pick<AuthorizationServer, 'clientAddress'>,
): PresentedCredentials => {
  const mark = target.indexOf('?')
  return {
    authorization: rawHeader(request, 'authorization'),
    cookie: cookieOf(request),
    query: mark < 0 ? '' : target.slice(mark + 1),
    address: server.clientAddress(
      request.socket.remoteAddress,
      rawHeader(request, 'x-forwarded-for'),
    ),
    userAgent: request.headers['user-agent'] ?? '',
    headers: () => allHeaders(request),
  }
}

/** The path of a request target, whatever host an absolute one names. */
export const pathOf = (target: string): string => target.replace(origin, '').replace(/[?#].*$/s, '')

/** Answers Node requests through the server's `fetch`. */
export const nodeListener = (
  server: Pick<AuthorizationServer, 'fetch'>,
): ((request: IncomingMessage, response: ServerResponse) => Promise<void>) => {
  const listener = getRequestListener(
    (request, { incoming }) =>
      server.fetch(request, { remoteAddress: incoming.socket.remoteAddress }),
    { overrideGlobalObjects: false, hostname: 'localhost' },
  )
  return (request, response) => {
    // An absolute target may name any host, user and password; none of it is for us, or for a log.
    request.url = (request.url ?? '/').replace(origin, '') || '/'
    return listener(request, response)
  }
}

const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i
