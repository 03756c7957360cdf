import { randomString } from '../crypto/random.ts'
import type { Consent } from '../model/authorization.ts'
import type { UserId } from '../model/user.ts'
import { consentClaims } from './claims.ts'
import type { RecordsContext } from './context.ts'

/** What users decided about clients, remembered until they withdraw it. */
export class Consents {
  readonly #context: RecordsContext

  constructor(context: RecordsContext) {
    this.#context = context
  }

  /** The user's consent, or undefined where there is none or its row was tampered with. */
  async find(userId: UserId, clientId: string): Promise<Consent | undefined> {
    const { store, keys, log } = this.#context
    const found = await store.consents.find(userId, clientId)
    if (!found || keys.isIntact(found.seal, consentClaims(found.consent))) return found?.consent
    log({
      level: 'error',
      event: 'consent.tampered',
      message:
        'A consent row was not written by this server, or by another secret key; it is refused.',
      userId,
      clientId,
    })
    return undefined
  }

  /**
   * Remembers that the user lets the client have these scopes, besides those it was given before, and
   * which optional ones were refused.
   */
  async grant(
    userId: UserId,
    clientId: string,
    scopes: readonly string[],
    { declined = [] }: { readonly declined?: readonly string[] } = {},
  ): Promise<Consent> {
    const { store, keys, clock, random } = this.#context
    return store.transaction(async (tx) => {
      const before = await new Consents({ ...this.#context, store: tx }).find(userId, clientId)
      const refused = new Set(declined)
      const kept = (before?.scopes ?? []).filter((scope) => !refused.has(scope))
      const granted = new Set([...kept, ...scopes])
      const declinedBefore = (before?.declinedScopes ?? []).filter((scope) => !granted.has(scope))
      const consent: Consent = {
        id: before?.id ?? randomString(22, random),
        userId,
        clientId,
        scopes: [...granted],
        declinedScopes: [...new Set([...declinedBefore, ...declined])],
        grantedAt: clock(),
      }
      await tx.consents.put({ consent, seal: keys.sealRow(consentClaims(consent)) })
      return consent
    })
  }
}
