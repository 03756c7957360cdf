import type { KeyRing } from '../../crypto/sealed.ts'
import type { UserId } from '../../model/user.ts'

/** The user whose page contained a form, and the time at which the page was rendered. */
export interface FormOrigin {
  readonly userId: UserId | null
  /** Milliseconds since the epoch. */
  readonly renderedAt: number
}

/**
 * The IDs of forms. A sealed ID proves for which user the page with the form was rendered, even after the session has
 * ended.
 */
export class FormIds {
  readonly #keys: KeyRing
  readonly #clock: () => number
  /** The time in milliseconds for which an ID proves its origin: the maximum lifetime of a session. */
  readonly #life: number

  constructor(keys: KeyRing, clock: () => number, sessionExpiresIn: number) {
    this.#keys = keys
    this.#clock = clock
    this.#life = sessionExpiresIn * 1000
  }

  /** Returns a new ID for the forms of a page. @param userId the logged-in user of the page */
  create(userId: UserId | null): string {
    const origin: FormOrigin = { userId, renderedAt: this.#clock() }
    return this.#keys.seal('form', JSON.stringify(origin), [])
  }

  /** Returns the origin of a form; undefined for an ID that is not valid or has expired. */
  originOf(id: string): FormOrigin | undefined {
    const text = this.#keys.open('form', id, [])
    if (text === undefined) return undefined
    const origin = JSON.parse(text) as FormOrigin
    return origin.renderedAt + this.#life > this.#clock() ? origin : undefined
  }
}
