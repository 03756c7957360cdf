import { AsyncLocalStorage } from 'node:async_hooks'
import type { AuditActor, AuditOrigin } from '../model/audit-event.ts'
import type { User } from '../model/user.ts'
import { storedUserAgent } from '../model/user-agent.ts'
import type { HttpRequest } from './request.ts'

/** What is known of the request that is being answered: its id at once, the rest once it is read. */
interface RequestScope {
  readonly id: string | undefined
  /** Without it, a user who is signed in acts, and else a client. */
  readonly actor?: AuditActor
  http?: Pick<HttpRequest, 'address' | 'userAgent'>
  user?: Pick<User, 'id' | 'email'>
}

// Not handed from function to function: whatever a request leads to may write to the log.
const current = new AsyncLocalStorage<RequestScope>()

/** The request that is being answered; undefined outside of one. */
export const currentRequest = (): Readonly<RequestScope> | undefined => current.getStore()

/** Runs what answers the request of that id. */
export const inRequest = <T>(id: string, run: () => T): T => current.run({ id }, run)

/** The user, and the address, for whom the application's own code acts. A missing field means unknown. */
export interface ActingAs {
  /** Without it, the user where there is one, and else code of the application. */
  readonly actor?: AuditActor
  readonly user?: Pick<User, 'id' | 'email'>
  readonly address?: string
  readonly userAgent?: string
  readonly requestId?: string
}

/** Runs work that somebody else than a request of ours asks for. */
export const inNameOf = <T>(
  { user, actor = user ? 'user' : 'system', address = '', userAgent = '', requestId }: ActingAs,
  work: () => T,
): T =>
  current.run({ id: requestId, http: { address, userAgent }, actor, ...(user && { user }) }, work)

/** Who acts now, and from where. */
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

/** Says where the request that is being answered comes from. */
export const noteHttp = (http: HttpRequest): void => {
  const scope = current.getStore()
  if (scope) scope.http = http
}

/** Says who is signed in where the request comes from. */
export const noteUser = (user: RequestScope['user'] & object): void => {
  const scope = current.getStore()
  if (scope && scope.actor === undefined) scope.user = user
}
