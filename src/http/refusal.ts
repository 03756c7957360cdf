import { PasswordHashingBusy } from '../crypto/passwords/password.ts'
import { JWTExtendedException } from '../model/jwt-error.ts'
import type { LogSink } from '../model/log.ts'
import { AuthenticationRequired, OAuthError } from '../model/oauth-error.ts'
import { ReferenceNotFound, StoreUnavailable } from '../store/contract/errors.ts'
import { noStore } from './answer.ts'

/** An error as an answer that every adapter can give: nothing of a framework. */
export interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** To be sent as JSON. */
  readonly body: object
}

/** Seconds after which a caller may try again what could not be served. */
const retryAfter = 5

/** The outage or the loss behind an error, as the protocol names it; otherwise the error itself. */
export const asOAuthError = (error: unknown): unknown => {
  if (error instanceof ReferenceNotFound) {
    const description = 'What this request refers to was deleted meanwhile.'
    return new OAuthError('invalid_request', description, { cause: error })
  }
  if (!(error instanceof StoreUnavailable || error instanceof PasswordHashingBusy)) return error
  const description = 'The service is not available right now. Try again later.'
  const headers = { 'retry-after': String(retryAfter) }
  return new OAuthError('temporarily_unavailable', description, { cause: error, headers })
}

/** The answer to an error that is meant for the caller; undefined for one that is a fault of ours. */
export const refusalOf = (error: unknown): Refusal | undefined => {
  const known = asOAuthError(error)
  if (known instanceof JWTExtendedException) {
    return { status: known.status, headers: noStore, body: known.toWire() }
  }
  if (known instanceof OAuthError || known instanceof AuthenticationRequired) {
    return { status: known.status, headers: { ...noStore, ...known.headers }, body: known.toWire() }
  }
  return undefined
}

/** Says in the log what the caller is not told: outages, and the reason of a refusal where it has one. */
export const logRefusal = (log: LogSink, error: unknown, refusal: Refusal | undefined): void => {
  if (!refusal) {
    log({ level: 'error', event: 'request.failed', message: 'A request failed.', error })
  } else if (refusal.status >= 500) {
    log({
      level: 'warn',
      event: 'request.unavailable',
      message: 'A request could not be served.',
      error,
    })
  } else if (error instanceof Error && error.cause !== undefined) {
    const { message, cause } = error
    log({ level: 'info', event: 'request.refused', message, cause })
  }
}
