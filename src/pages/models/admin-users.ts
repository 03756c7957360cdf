import type { FormProblem } from '../form-problem.ts'
import type { Listed } from '../parts/lists.ts'

/** A user in the administration. */
export interface UserItem {
  readonly href: string
  readonly id: string
  /** The e-mail address, or the ID of a user without an e-mail address. */
  readonly name: string
  readonly isActive: boolean
  readonly isAdmin: boolean
  /** Whether the e-mail address is verified. */
  readonly isVerified: boolean
}

/** The view of the page on which an administrator finds users. */
export interface AdminUsersView {
  /** The URL of the page. A POST with `user` searches. */
  readonly action: string
  readonly search: string
  /**
   * Whether the search finds users by the beginning of the e-mail address. Otherwise, the search requires the
   * complete address or the ID.
   */
  readonly isSearchable: boolean
  readonly users: Listed<UserItem>
  readonly problem: FormProblem | undefined
}

/** A session of the user. Times are milliseconds since the epoch. */
export interface UserSessionItem {
  readonly browser: string | null
  readonly address: string
  readonly createdAt: number
  readonly lastSeenAt: number
}

/** A personal token of the user. */
export interface UserTokenItem {
  readonly id: number
  readonly name: string
  readonly scopes: readonly string[]
  readonly createdAt: number
  readonly expires: number | null
  readonly lastUsedAt: number | null
  readonly lastUsedAddress: string | null
}

/** An application that the user registered or authorized. */
export interface UserApplicationItem {
  /** The URL of the application in the administration. */
  readonly href: string
  readonly clientId: string
  readonly name: string
  readonly isDisabled: boolean
  readonly createdAt: number | null
}

/** The view of the page on which an administrator manages one user. */
export interface AdminUserView {
  /**
   * The URL of the page. A POST accepts `act`: `deactivate`, `activate`, `log_out`, `end_tokens`, or `delete_token`
   * with `token_id`.
   */
  readonly action: string
  readonly user: UserItem
  /** Whether the administrator who reads the page is this user. */
  readonly isOwn: boolean
  /** Whether this server can deactivate users. */
  readonly canSetActive: boolean
  /** The sessions; null if the host manages the logins. */
  readonly sessions: Listed<UserSessionItem> | null
  readonly tokens: Listed<UserTokenItem>
  readonly clients: Listed<UserApplicationItem>
  readonly authorized: Listed<UserApplicationItem>
  /** The URL of the audit log of the user. */
  readonly activity: string
  readonly done: string | undefined
  readonly problem: FormProblem | undefined
}
