import { InvalidField } from './invalid-field.ts'

/** The maximum number of seconds for which a replaced secret remains valid: 30 days. */
export const maxOverlap = 2_592_000

/** @throws InvalidField for an overlap that is not a whole number of seconds up to `maxOverlap` */
export const checkOverlap = (overlap: number): void => {
  if (Number.isSafeInteger(overlap) && overlap >= 0 && overlap <= maxOverlap) return
  throw new InvalidField('overlap', 'The overlap must be from 0 seconds to 30 days.', {
    problem: 'overlapInvalid',
  })
}
