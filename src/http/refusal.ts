import { PasswordHashingBusy } from '../crypto/passwords/password.ts'
import { JWTExtendedException } from '../model/jwt-error.ts'
import type { LogSink } from '../model/log.ts'
import { AuthenticationRequired, OAuthError } from '../model/oauth-error.ts'
import { ReferenceNotFound, StoreUnavailable } from '../store/contract/errors.ts'
import { noStore } from './response.ts'

/** An error response, independent of any framework. */
export interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The JSON body. */
  readonly body: object
}

/** The value of `Retry-After` during an outage, in seconds. */
const retryAfter = 5

/**
 * Converts `ReferenceNotFound`, `StoreUnavailable` and `PasswordHashingBusy` to protocol errors. Returns any other error
 * unchanged.
 */
export const asOAuthError = (error: unknown): unknown => {
  if (error instanceof ReferenceNotFound) {
    const description = 'An object that this request needs was deleted concurrently.'
    return new OAuthError('invalid_request', description, { cause: error })
  }
  if (!(error instanceof StoreUnavailable || error instanceof PasswordHashingBusy)) return error
  const description = 'The service is not available right now. Try again later.'
  const headers = { 'retry-after': String(retryAfter) }
  return new OAuthError('temporarily_unavailable', description, { cause: error, headers })
}

/** Returns the response that reports an error to the caller; undefined for an internal error. */
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

/** Logs internal errors and outages, and the cause of any other refusal. The response does not contain the cause. */
export const logRefusal = (log: LogSink, error: unknown, refusal: Refusal | undefined): void => {
  if (!refusal) {
    log({ level: 'error', event: 'request.failed', message: 'A request failed.', error })
  } else if (refusal.status >= 500) {
    log({
      level: 'warn',
      event: 'request.unavailable',
      message: 'A request failed because a service that it needs is not available.',
      error,
    })
  } else if (error instanceof Error && error.cause !== undefined) {
    const { message, cause } = error
    log({ level: 'info', event: 'request.refused', message, cause })
  }
}
