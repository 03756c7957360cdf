import { errors } from 'jose'

/** An error of jose as a cause for the log: its sentence, without the claims of the JWT that jose puts beside it. */
export const withoutClaims = (error: unknown): unknown => {
  if (!(error instanceof errors.JOSEError)) return error
  const { name, message, stack } = error
  return Object.assign(new Error(message), { name, stack })
}
