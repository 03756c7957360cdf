import type { UserId } from '../../model/user.ts'
import { openHeld, type Sealing, sealHeld } from './held-values.ts'

/** The user whose page contained a form, and the time at which the page was rendered. */
export interface FormOrigin {
  readonly userId: UserId | null
  /** Milliseconds since the epoch. */
  readonly renderedAt: number
}

/**
 * Returns a new ID for the forms of a page. The sealed ID proves for which user the page with the form was rendered,
 * even after the session has ended.
 * @param userId the logged-in user of the page
 * @param life the time in seconds for which the ID proves its origin
 */
export const newFormId = (userId: UserId | null, life: number, sealing: Sealing): string => {
  const renderedAt = sealing.clock()
  const until = renderedAt + life * 1000
  return sealHeld<FormOrigin>('form', [], { userId, renderedAt, until }, sealing)
}

/** Returns the origin of a form; undefined for an ID that is not valid or has expired. */
export const originOfForm = (id: string, sealing: Sealing): FormOrigin | undefined =>
  openHeld<FormOrigin>('form', [], id, sealing)
