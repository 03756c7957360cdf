import type { FormProblem } from '../form-problem.ts'
import type { ownEvent } from '../shapes/activity.ts'
import type { Json } from '../shapes/shape.ts'

/** An act on a leaked credential, as the value of the form field `act`. */
export type LeakActName = 'end' | 'end_application' | 'end_user' | 'disable' | 'log_out'

/** A leaked credential without its value. Times are milliseconds since the epoch. */
export interface LeakedItem {
  readonly kind:
    | 'personal_token'
    | 'access_token'
    | 'refresh_token'
    | 'client_secret'
    | 'authorization_code'
    | 'device_code'
    | 'session'
    | 'registration_token'
    | 'user_link'
  /** The last four characters of the value. */
  readonly ending: string
  /** The name of the personal token or of the application; empty for a session. */
  readonly name: string
  readonly isValid: boolean
  /** The e-mail address or ID of the user, or of the owner of the application. */
  readonly user: string | null
  /** The URL of the user in the administration; null if the reader of the page is not an administrator. */
  readonly userHref: string | null
  /** Whether the credential belongs to the reader of the page. */
  readonly isOwn: boolean
  readonly application: { readonly name: string; readonly isDisabled: boolean } | null
  /** Whether the reader of the page registered the application. */
  readonly isOwner: boolean
  readonly scopes: readonly string[]
  /** Whether each request with the credential must also prove possession of a key (RFC 9449). */
  readonly isBound: boolean
  readonly createdAt: number | null
  readonly expires: number | null
  readonly lastUsedAt: number | null
  readonly lastUsedAddress: string | null
  /** The acts that the reader of the page may perform on the credential. */
  readonly acts: readonly LeakActName[]
  /** The latest audit events about the credential. */
  readonly events: readonly Json<typeof ownEvent>[]
}

/** The view of the page on which a user looks up and revokes leaked credentials. */
export interface LeakedView {
  /**
   * The URL of the page. A POST with `credential` looks up the credentials in this text. A POST with `found`, `at` and
   * `act` performs an act on the found credential with the index `at`.
   */
  readonly action: string
  /** The value of the form field `found`, which refers to the found credentials; empty before a look-up. */
  readonly found: string
  readonly isAdmin: boolean
  readonly credentials: readonly LeakedItem[]
  /** The message about the action that the user has just completed; undefined without one. */
  readonly done: string | undefined
  readonly problem: FormProblem | undefined
}
