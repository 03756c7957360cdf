import type { UserId } from '../../model/user.ts'

/** A logout of which a client must be notified. */
export interface LogoutNotice {
  readonly id: string
  /** The current ID of the client; undefined if the client was deleted. */
  readonly clientId: string | undefined
  readonly clientKey: number
  readonly userId: string
  /** The claim `sid` of the ID token. */
  readonly sid: string
  /** The number of attempts, including the attempt for which the notice was claimed. */
  readonly attempts: number
}

/** The notices that a process is sending, by which the next notices are chosen. */
export interface ClaimedShare {
  /** The maximum number of notices to claim. */
  readonly limit: number
  /** The maximum number of notices to claim for one user and for one client. */
  readonly each: number
  /** Users and clients for which no notices are claimed now. */
  readonly busyUsers: readonly string[]
  readonly busyClients: readonly number[]
}

/** Stores notices of logouts until they are delivered. */
export interface LogoutNoticeStore {
  /**
   * Stores one notice for each client and session, due at `now`. If the user has more than `most` notices, deletes those
   * that expire first.
   * @returns the number of deleted notices
   */
  add(
    logins: readonly { readonly clientKey: number; readonly sid: string }[],
    userId: UserId,
    times: { readonly now: number; readonly expiresAt: number },
    most: number,
  ): Promise<number>
  /**
   * Claims due notices until `until`: the next notice of each user comes before the second notice of any user. If the
   * process ends before the notice is delivered, the notice is due again at `until`. Only one of several concurrent
   * callers claims a notice.
   */
  claim(now: number, until: number, share: ClaimedShare): Promise<readonly LogoutNotice[]>
  /** Sets the time of the next attempt. */
  retry(id: string, dueAt: number): Promise<void>
  delete(id: string): Promise<void>
  /** Deletes at most `limit` expired rows. @returns the number of deleted rows */
  deleteExpired(now: number, limit: number): Promise<number>
}
