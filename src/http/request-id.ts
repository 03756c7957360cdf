import { randomUUID } from 'node:crypto'
import { Answer } from './answer.ts'
import type { Connection, RequestSource } from './request.ts'

// It goes into log lines and a header: nothing but what is harmless in both. Two headers come joined by a comma.
const isSane = (id: unknown): id is string =>
  typeof id === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(id)

/** The id of a request: the application's, else the one that it came with, else a new one. */
export const requestIdOf = (
  source: Pick<RequestSource, 'header'>,
  { requestId }: Connection,
): string => {
  if (isSane(requestId)) return requestId
  const given = source.header('x-request-id')
  return isSane(given) ? given : randomUUID()
}

/** The answer with the id of its request. */
export const withRequestId = <A extends Answer | Response>(answer: A, id: string): A | Response => {
  if (answer instanceof Answer) return answer.with({ 'x-request-id': id }) as A
  try {
    answer.headers.set('x-request-id', id)
    return answer
  } catch {
    // An endpoint that passes on what it fetched: such headers cannot be changed.
    const copy = new Response(answer.body, answer)
    copy.headers.set('x-request-id', id)
    return copy
  }
}
