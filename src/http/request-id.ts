import { randomUUID } from 'node:crypto'
import type { Connection, RequestSource } from './request.ts'
import { HttpResponse } from './response.ts'

// The ID is written to log lines and a header, so accept only harmless characters.
const isSane = (id: unknown): id is string =>
  typeof id === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(id)

/** Returns the first valid ID: the request ID of the application, the header `X-Request-Id`, or a new ID. */
export const requestIdOf = (
  source: Pick<RequestSource, 'header'>,
  { requestId }: Connection,
): string => {
  if (isSane(requestId)) return requestId
  const given = source.header('x-request-id')
  return isSane(given) ? given : randomUUID()
}

/** Adds the request ID to a response. Returns a copy if the headers of the response are immutable. */
export const withRequestId = <A extends HttpResponse | Response>(
  response: A,
  id: string,
): A | Response => {
  if (response instanceof HttpResponse) return response.with({ 'x-request-id': id }) as A
  try {
    response.headers.set('x-request-id', id)
    return response
  } catch {
    // The headers of a fetched response are immutable, so copy the response.
    const copy = new Response(response.body, response)
    copy.headers.set('x-request-id', id)
    return copy
  }
}
