import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type { Connection } from './http-request.ts'

// Not handed from function to function: whatever a request leads to may write to the log.
const current = new AsyncLocalStorage<string>()

/** The id of the request that is being answered; undefined outside of one. */
export const currentRequestId = (): string | undefined => current.getStore()

/** Runs what answers the request of that id. */
export const inRequest = <T>(id: string, run: () => T): T => current.run(id, run)

// It goes into log lines and a header: nothing but what is harmless in both. Two headers come joined by a comma.
const isSane = (id: unknown): id is string =>
  typeof id === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(id)

/** The id of a request: the application's, else the one that it came with, else a new one. */
export const requestIdOf = (headers: Headers, { requestId }: Connection): string => {
  if (isSane(requestId)) return requestId
  const given = headers.get('x-request-id')
  return isSane(given) ? given : randomUUID()
}

/** The answer with the id of its request. */
export const withRequestId = (answer: Response, id: string): Response => {
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
