import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type { AuditActor, AuditOrigin } from '../model/audit-event.ts'
import { storedUserAgent } from '../model/bounds.ts'
import { object, oneOf, onlyMembers, text } from '../model/members.ts'
import type { User } from '../model/user.ts'
import type { Connection, HttpRequest, RequestSource } from './request.ts'
import { HttpResponse } from './response.ts'

/** The current request. `route`, `http` and `user` are set as soon as they are known. */
interface RequestScope {
  readonly id: string | undefined
  /** The actor. The default is the signed-in user, or the client if no user is signed in. */
  readonly actor?: AuditActor
  /** The pattern of the path; undefined if no endpoint has the path. */
  route?: string
  http?: Pick<HttpRequest, 'address' | 'userAgent'>
  user?: Pick<User, 'id' | 'email'>
}

// Use async context instead of a parameter, because any function may write to the log.
const current = new AsyncLocalStorage<RequestScope>()

/** Returns the current request; undefined outside of a request. */
export const currentRequest = (): Readonly<RequestScope> | undefined => current.getStore()

/** Runs the handler of a request, and makes the request ID available to all functions that it calls. */
export const inRequest = <T>(id: string, run: () => T): T => current.run({ id }, run)

/** The user and the origin of an action that code of the application performs. */
export interface ActingAs {
  /** The actor. The default is the user, or the system if `user` is undefined. */
  readonly actor?: AuditActor
  readonly user?: Pick<User, 'id' | 'email'>
  readonly address?: string
  readonly userAgent?: string
  readonly requestId?: string
}

/** Runs code of the application on behalf of a user or another actor. */
export const inNameOf = <T>(who: ActingAs, work: () => T): T => {
  checkActor(who)
  const { user, actor = user ? 'user' : 'system', address = '', userAgent = '', requestId } = who
  const http = { address, userAgent }
  return current.run({ id: requestId, http, actor, ...(user && { user }) }, work)
}

const checkActor = onlyMembers<ActingAs>('actingAs()', {
  actor: oneOf('user', 'client', 'command_line', 'system', 'unknown'),
  user: object,
  address: text,
  userAgent: text,
  requestId: text,
})

/** Returns the current actor and the origin of the request. Outside of a request, the actor is `system`. */
export const currentOrigin = (): AuditOrigin => {
  const { id, http, user, actor } = current.getStore() ?? { actor: 'system' as const }
  return {
    actor: actor ?? (user ? 'user' : 'client'),
    actorId: user?.id ?? null,
    actorEmail: user?.email ?? '',
    address: http?.address ?? '',
    userAgent: storedUserAgent(http?.userAgent ?? ''),
    requestId: id ?? null,
  }
}

/** Records the route pattern of the current request. */
export const noteRoute = (route: string): void => {
  const scope = current.getStore()
  if (scope) scope.route = route
}

/** Records the IP address and the user agent of the current request. */
export const noteHttp = (http: HttpRequest): void => {
  const scope = current.getStore()
  if (scope) scope.http = http
}

/** Records the signed-in user of the current request. Does nothing if the request has an explicit actor. */
export const noteUser = (user: RequestScope['user'] & object): void => {
  const scope = current.getStore()
  if (scope && scope.actor === undefined) scope.user = user
}

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
