import type { Digest } from '../crypto/digest.ts'
import { randomString } from '../crypto/random.ts'
import { type Consent, consentClaims, type SealedConsent } from '../model/entities/consent.ts'
import { listOf, onlyMembers, text } from '../model/members.ts'
import type { User, UserId } from '../model/user.ts'
import type { StoredGrant } from '../store/contract/authorizations.ts'
import { ReferenceNotFound } from '../store/contract/errors.ts'
import type { Store } from '../store/store.ts'
import { findClient } from './clients/client-rows.ts'
import { earliestRow, type RecordsContext, retryOnCollision } from './context.ts'
import { reportTampered } from './seals/refused-row.ts'
import { reusedSince } from './users/reused-ids.ts'

const checkOptions = onlyMembers<{ readonly declined?: readonly string[] }>('consents.grant()', {
  declined: listOf(text),
})

/** A consent, with the user and the session that a redemption checks, and the IDs of the rows to insert. */
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
    return validConsent(
      await this.#context.store.consents.find({ userId, clientId }, { lock: 'change' }),
      this.#context,
    )
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
    const client = await findClient(clientId, this.#context)
    if (!client) throw new ReferenceNotFound('The client does not exist.')
    const { clientKey, name: subject } = client
    const earliest = await earliestRow(userId, this.#context)
    const attempt = async (tx: Store): Promise<Consent | undefined> => {
      const found = await tx.consents.find({ userId, clientId }, { lock: 'change' })
      const opened = openedConsent(found, this.#context)
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
      if (found) await tx.consents.put(row)
      // The look-up found no row to lock, so a concurrent request may have inserted a consent.
      else if (!(await tx.consents.insert(row))) return undefined
      const about = { userId, clientId, subject, details: { scopes, declined } }
      await audit.add(tx, 'consent.given', about)
      return consent
    }
    return retryOnCollision(() =>
      turns.transaction(store, `consent ${userId} ${clientId}`, attempt),
    )
  }
}

/** Returns the consent of the user of a session, even if the session has expired. */
export const consentOfSession = async (
  sessionId: Digest,
  clientId: string,
  context: RecordsContext,
): Promise<Consent | undefined> =>
  validConsent(await context.store.consents.findOfSession(sessionId, clientId), context)

/**
 * Returns the consent of a user, with the current user, the session, and the IDs of the rows to insert. Returns
 * undefined like `Consents.find`.
 */
export const findGrant = async (
  userId: UserId,
  clientId: string,
  sessionId: string | null,
  context: RecordsContext,
): Promise<Grant | undefined> => {
  const found = await context.store.consents.findGrant(userId, clientId, sessionId)
  const consent = await validConsent(found, context)
  if (!found || !consent) return undefined
  const { session, reserved } = found
  const user = await context.users.current(userId, found.user, context)
  return { consent, user, session, reserved }
}

const validConsent = async (
  found: SealedConsent | undefined,
  context: RecordsContext,
): Promise<Consent | undefined> => {
  const consent = openedConsent(found, context)
  return consent && consent.grantedAt >= (await earliestRow(consent.userId, context))
    ? consent
    : undefined
}

const openedConsent = (
  found: SealedConsent | undefined,
  context: RecordsContext,
): Consent | undefined => {
  if (!found || context.keys.isIntact(found.seal, consentClaims(found.consent)))
    return found?.consent
  const { userId, clientId } = found.consent
  return reportTampered('consent', { userId, clientId }, context)
}
