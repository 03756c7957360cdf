import type { StoredNotice } from '../../model/entities/logout-notice.ts'
import type { UserId } from '../../model/user.ts'
import type { Expiring } from './expiring.ts'
import type { Rows } from './rows.ts'

/** A logout of which a client must be notified. */
export interface LogoutNotice extends StoredNotice {
  /** The current ID of the client; undefined if the client was deleted. */
  readonly clientId: string | undefined
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
export interface LogoutNoticeStore extends Rows<StoredNotice>, Expiring {
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
}
