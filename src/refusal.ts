import { PasswordHashingBusy } from './crypto/password.ts'
import { JWTExtendedException } from './jwt-error.ts'
import { AuthenticationRequired, OAuthError } from './oauth-error.ts'
import { StoreUnavailable } from './store/store.ts'

/** An error as an answer that every adapter can give: nothing of a framework. */
export interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** To be sent as JSON. */
  readonly body: object
}

const always = {
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** Seconds after which a caller may try again what could not be served. */
const retryAfter = 5

/** The outage behind an error, as the protocol names it; the error itself where there is none. */
export const asOAuthError = (error: unknown): unknown =>
  error instanceof StoreUnavailable || error instanceof PasswordHashingBusy
    ? new OAuthError(
        'temporarily_unavailable',
        'The service is not available right now. Try again later.',
        {
          cause: error,
          headers: { 'retry-after': String(retryAfter) },
        },
      )
    : error

/** The answer to an error that is meant for the caller; undefined for one that is a fault of ours. */
export const refusalOf = (error: unknown): Refusal | undefined => {
  const known = asOAuthError(error)
  if (known instanceof JWTExtendedException) {
    return { status: known.status, headers: always, body: known.toWire() }
  }
  if (known instanceof OAuthError || known instanceof AuthenticationRequired) {
    return { status: known.status, headers: { ...always, ...known.headers }, body: known.toWire() }
  }
  return undefined
}
