import type { ActivityItem } from '../parts/activity-row.ts'
import type { FormProblem } from '../parts/forms.ts'

/** An act on a leaked credential: the value of `act` in its form. */
export type LeakActName = 'end' | 'end_application' | 'end_user' | 'disable' | 'log_out'

/** A leaked credential without its value. Times are milliseconds since the epoch. */
export interface LeakedItem {
  readonly kind:
    | 'personal_token'
    | 'access_token'
    | 'refresh_token'
    | 'client_secret'
    | 'authorization_code'
    | 'session'
  /** The last four characters of the value. */
  readonly ending: string
  /** The name of the personal token or of the application; empty for a session. */
  readonly name: string
  readonly isValid: boolean
  /** The e-mail address or ID of the user, or of the owner of the application. */
  readonly user: string | null
  /** The URL of the page of this user in the administration; null if the reader is no administrator. */
  readonly userHref: string | null
  /** Whether the credential belongs to the reader of the page. */
  readonly isOwn: boolean
  readonly application: { readonly name: string; readonly isDisabled: boolean } | null
  /** Whether the reader of the page registered the application. */
  readonly isOwner: boolean
  readonly scopes: readonly string[]
  /** Whether requests also have to prove the possession of a key (RFC 9449). */
  readonly isBound: boolean
  readonly createdAt: number | null
  readonly expires: number | null
  readonly lastUsedAt: number | null
  readonly lastUsedAddress: string | null
  /** The acts that are possible. */
  readonly acts: readonly LeakActName[]
  /** The latest events. */
  readonly events: readonly ActivityItem[]
}

/** The view of the page on which a user looks up and ends leaked credentials. */
export interface LeakedView {
  /**
   * The URL of the page. A POST with `credential` looks up the credentials in a text. A POST with `found`, `at` and
   * `act` acts on one of the credentials.
   */
  readonly action: string
  /** The reference to the found credentials: the value of `found`; empty before a look-up. */
  readonly found: string
  readonly isAdmin: boolean
  readonly credentials: readonly LeakedItem[]
  /** The message about the action that the user has just completed; undefined without one. */
  readonly done: string | undefined
  readonly problem: FormProblem | undefined
}
