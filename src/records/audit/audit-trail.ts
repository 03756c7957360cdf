import type { KeyRing } from '../../crypto/sealed.ts'
import type {
  AuditDetails,
  AuditEvent,
  AuditEventName,
  AuditOrigin,
  AuditSubject,
  SealedAuditEvent,
} from '../../model/audit-event.ts'
import type { ClientOwner } from '../../model/client.ts'
import { auditValues } from '../../model/entities/audit-event.ts'
import type { ClientFields } from '../../model/entities/client.ts'
import type { TokenFields } from '../../model/entities/token.ts'
import type { User, UserId } from '../../model/user.ts'
import type { Store } from '../../store/store.ts'

/** The subject of an event. A missing field means that the value is unknown or does not apply. */
export type About<Name extends AuditEventName> = Partial<AuditSubject> & {
  readonly details: AuditDetails<Name>
  /** The actor of the event. Default: the actor of the request. */
  readonly by?: Partial<AuditOrigin>
  readonly isRoutine?: boolean
}

export const sealedEvent = (
  keys: Pick<KeyRing, 'sealAudit'>,
  event: AuditEvent,
): SealedAuditEvent => ({ ...event, seal: keys.sealAudit(auditValues(event)) })

export interface AuditTrailOptions {
  /** The store outside of transactions. Routine events that are added with this store are written later. */
  readonly root: Store
  readonly keys: Pick<KeyRing, 'sealAudit'>
  readonly queue: { add(event: SealedAuditEvent): void }
  readonly listener: { notify(event: AuditEvent): void }
  readonly failedLogins: { add(event: AuditEvent<'login.failed'>): void }
  /** Whether routine events are stored as rows. Otherwise, the listener counts them. */
  readonly keepsRoutine: boolean
  readonly clock: () => number
  /** Returns the current actor and the origin of the request. */
  readonly origin: () => AuditOrigin
}

/** Records events in the audit log. */
export class AuditTrail {
  readonly #options: AuditTrailOptions
  readonly #by: Partial<AuditOrigin> | undefined

  constructor(options: AuditTrailOptions, by?: Partial<AuditOrigin>) {
    this.#options = options
    this.#by = by
  }

  /** Returns a trail with another actor. */
  by(origin: Partial<AuditOrigin>): AuditTrail {
    return new AuditTrail(this.#options, origin)
  }

  /** Records an event in the transaction of the change, so that the event and the change are committed together. */
  add<Name extends AuditEventName>(tx: Store, name: Name, about: About<Name>): Promise<void> {
    return tx.audit.add(this.#sealed(this.#event(name, about)))
  }

  /**
   * Records an event in the statement of its change, which knows the IDs of the subject. Tells the listener if the
   * statement had an effect.
   */
  async addWith<Name extends AuditEventName, Ids extends Partial<AuditSubject>>(
    name: Name,
    about: About<Name>,
    write: (eventOf: (ids: Ids) => SealedAuditEvent) => Promise<Ids | undefined>,
  ): Promise<Ids | undefined> {
    // The statement may run in the context of another request, so take the origin of this request now.
    const event = this.#event(name, about)
    const withIds = (ids: Ids) => ({ ...event, ...ids }) as AuditEvent
    const ids = await write((ids) => this.#sealed(withIds(ids)))
    if (ids) this.#options.listener.notify(withIds(ids))
    return ids
  }

  /**
   * Records or counts a routine event later, without waiting. Inside a transaction, records the event in that
   * transaction.
   */
  async addRoutine<Name extends AuditEventName>(
    store: Store,
    name: Name,
    about: About<Name>,
  ): Promise<void> {
    const { root, queue, listener, keepsRoutine } = this.#options
    const event = this.#event(name, { ...about, isRoutine: true })
    if (store !== root) return store.audit.add(this.#sealed(event))
    if (keepsRoutine) queue.add(this.#sealed(event))
    listener.notify(event)
  }

  /** Records a failed login outside of transactions. Combines further failed logins of the same user. */
  addLoginFailure(about: About<'login.failed'>): void {
    this.#options.failedLogins.add(this.#event('login.failed', about) as AuditEvent<'login.failed'>)
  }

  #sealed(event: AuditEvent): SealedAuditEvent {
    return sealedEvent(this.#options.keys, event)
  }

  #event<Name extends AuditEventName>(name: Name, about: About<Name>): AuditEvent {
    const origin = this.#options.origin()
    const by = about.by ?? this.#by
    const { actor, actorId = null, actorEmail = '' } = by ?? origin
    const { userId = null } = about
    const isOwn = userId !== null && userId === actorId
    return {
      at: this.#options.clock(),
      event: name,
      isRoutine: about.isRoutine ?? false,
      actor: actor ?? origin.actor,
      actorId,
      actorEmail,
      userId,
      userEmail: about.userEmail ?? (isOwn ? actorEmail : null),
      clientId: about.clientId ?? null,
      tokenId: about.tokenId ?? null,
      authorizationId: about.authorizationId ?? null,
      subject: about.subject ?? '',
      address: by?.address ?? origin.address,
      userAgent: by?.userAgent ?? origin.userAgent,
      requestId: by?.requestId ?? origin.requestId,
      details: about.details,
    } as AuditEvent
  }
}

/** Returns the origin of an action by a user. */
export const byUser = ({ id, email }: Pick<User, 'id' | 'email'>): Partial<AuditOrigin> => ({
  actor: 'user',
  actorId: id,
  actorEmail: email,
})

/** Returns the fields of an event about a user. */
export const ofUser = (
  user: { readonly id: UserId; readonly email?: string | null } | null | undefined,
): Pick<AuditSubject, 'userId' | 'userEmail'> => ({
  userId: user?.id ?? null,
  userEmail: user?.email ?? null,
})

/** Returns the fields of an event about a client. The affected user is the owner. */
export const ofClient = (
  { clientId, name, userId }: Pick<ClientFields, 'clientId' | 'name' | 'userId'>,
  owner: ClientOwner | null,
): Partial<AuditSubject> => ({
  userId,
  userEmail: owner?.email ?? null,
  clientId,
  subject: name,
})

/** A token in an event. The ID is missing if the database has not assigned it yet. */
export type AboutToken = Pick<TokenFields, 'clientId' | 'userId' | 'authorizationId'> &
  Partial<Pick<TokenFields, 'id'>>

/**
 * Returns the fields of an event about a token.
 * @param name the name of the client or of the personal token
 */
export const ofToken = (
  { id, clientId, userId, authorizationId }: AboutToken,
  name: string,
): Partial<AuditSubject> => ({
  userId,
  clientId,
  tokenId: id ?? null,
  authorizationId,
  subject: name,
})

/** Returns the name of a client for the audit log, or its ID if the client no longer exists. */
export const nameOfClient = async (clientId: string, { clients }: Store): Promise<string> =>
  (await clients.find(clientId))?.fields.name ?? clientId
