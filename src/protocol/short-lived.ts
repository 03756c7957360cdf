import type { AuthorizationCode } from '../model/authorization.ts'
import type { AuthorizationRequest } from '../model/authorization-request.ts'
import type { User } from '../model/user.ts'
import type { TransientValues } from '../records/transient-values.ts'

/** An authorization request that waits for its user's decision, bound to whom it was shown. */
export interface PendingAuthorization {
  readonly request: AuthorizationRequest
  /** What the client was allowed when its user was asked. */
  readonly terms: string
  readonly userId: User['id']
  readonly sessionId: string
}

/** What the next settings page says, once, to the session that did something: that it was done, and a new secret. */
export interface Notice {
  readonly done?: string
  /** Shown this once, and kept nowhere else. */
  readonly secret?: string
}

/** Where a settings form led; null: it is at work still. */
export interface Outcome {
  readonly location: string | null
}

/** The short-lived values of the built-in endpoints. */
export interface ShortLived {
  readonly codes: TransientValues<AuthorizationCode>
  readonly pending: TransientValues<PendingAuthorization>
  /** By session and address. */
  readonly notices: TransientValues<Notice>
  /** By session and content. */
  readonly forms: TransientValues<Outcome>
}
