import type { Digest } from '../crypto/digest.ts'
import { randomString } from '../crypto/random.ts'
import { type Consent, consentClaims, type SealedConsent } from '../model/entities/consent.ts'
import { listOf, onlyMembers, text } from '../model/members.ts'
import type { User, UserId } from '../model/user.ts'
import type { StoredGrant } from '../store/contract/authorizations.ts'
import { ReferenceNotFound } from '../store/contract/errors.ts'
import type { Store } from '../store/store.ts'
import { Clients } from './clients/clients.ts'
import { earliestRow, type RecordsContext, retryOnCollision } from './context.ts'
import { reusedSince } from './users/reused-ids.ts'

const checkOptions = onlyMembers<{ readonly declined?: readonly string[] }>('consents.grant()', {
  declined: listOf(text),
})

/** A consent, with the user and the session that a redemption checks, and the IDs of the rows to insert. @internal */
export interface Grant extends Pick<StoredGrant, 'session' | 'reserved'> {
  readonly consent: Consent
  /** Null if the user does not exist. */
  readonly user: User | null
}

/** Stores the decisions of users about clients. */
export class Consents {
  readonly #context: RecordsContext

  constructor(context: RecordsContext) {
    this.#context = context
  }

  /**
   * Returns the consent of a user. Returns undefined for a missing row, for a row that was tampered with, and for the
   * consent of a former user with the same ID.
   */
  async find(userId: UserId, clientId: string): Promise<Consent | undefined> {
    return this.#valid(await this.#context.store.consents.find(userId, clientId))
  }

  /** Returns the consent of the user of a session, even if the session has expired. @internal */
  async findOfSession(sessionId: Digest, clientId: string): Promise<Consent | undefined> {
    return this.#valid(await this.#context.store.consents.findOfSession(sessionId, clientId))
  }

  /**
   * Returns the consent of a user, with the current user, the session, and the IDs of the rows to insert. Returns
   * undefined like `find`.
   * @internal
   */
  async findGrant(
    userId: UserId,
    clientId: string,
    sessionId: string | null,
  ): Promise<Grant | undefined> {
    const { store } = this.#context
    const found = await store.consents.findGrant(userId, clientId, sessionId)
    const consent = await this.#valid(found)
    if (!found || !consent) return undefined
    const { session, reserved } = found
    const user = await this.#context.users.current(userId, found.user, this.#context)
    return { consent, user, session, reserved }
  }

  async #valid(found: SealedConsent | undefined): Promise<Consent | undefined> {
    const consent = this.#opened(found)
    return consent && consent.grantedAt >= (await earliestRow(consent.userId, this.#context))
      ? consent
      : undefined
  }

  /**
   * Adds scopes to the consent of a user for a client. Removes the scopes that the user declined, and stores them as
   * declined.
   * @throws ReferenceNotFound if the client does not exist, or if its row was tampered with
   */
  async grant(
    userId: UserId,
    clientId: string,
    scopes: readonly string[],
    options: { readonly declined?: readonly string[] } = {},
  ): Promise<Consent> {
    checkOptions(options)
    const { declined = [] } = options
    const { store, turns, keys, clock, random, audit } = this.#context
    const client = await new Clients(this.#context).find(clientId)
    if (!client) throw new ReferenceNotFound('The client does not exist.')
    const { clientKey, name: subject } = client
    const earliest = await earliestRow(userId, this.#context)
    const record = async (tx: Store, consent: Consent): Promise<Consent> => {
      const about = { userId, clientId, subject, details: { scopes, declined } }
      await audit.add(tx, 'consent.given', about)
      return consent
    }
    const attempt = async (tx: Store): Promise<Consent | undefined> => {
      const found = await tx.consents.find(userId, clientId)
      const opened = this.#opened(found)
      const before = opened && opened.grantedAt >= earliest ? opened : undefined
      const refused = new Set(declined)
      const kept = (before?.scopes ?? []).filter((scope) => !refused.has(scope))
      const granted = new Set([...kept, ...scopes])
      const declinedBefore = (before?.declinedScopes ?? []).filter((scope) => !granted.has(scope))
      const consent: Consent = {
        id: before?.id ?? randomString(22, random),
        userId,
        clientId,
        clientKey,
        scopes: [...granted],
        declinedScopes: [...new Set([...declinedBefore, ...declined])],
        grantedAt: clock(),
        reusedSince: before
          ? before.reusedSince
          : await reusedSince(userId, earliest, { ...this.#context, store: tx }),
      }
      const row = { consent, seal: keys.sealRow(consentClaims(consent)) }
      // The look-up found no row to lock, so a concurrent request may have inserted a consent.
      if (!found) return (await tx.consents.insert(row)) ? record(tx, consent) : undefined
      await tx.consents.put(row)
      return record(tx, consent)
    }
    return retryOnCollision(() =>
      turns.transaction(store, `consent ${userId} ${clientId}`, attempt),
    )
  }

  #opened(found: SealedConsent | undefined): Consent | undefined {
    const { keys, log } = this.#context
    if (!found || keys.isIntact(found.seal, consentClaims(found.consent))) return found?.consent
    const { userId, clientId } = found.consent
    log({
      level: 'error',
      event: 'consent.tampered',
      message:
        'A consent row was tampered with, or sealed with another secret key; the server refuses the row.',
      userId,
      clientId,
    })
    return undefined
  }
}
