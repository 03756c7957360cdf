import type { Digest } from '../../crypto/digest.ts'
import type { StoredSession } from '../../model/entities/session.ts'
import type { UserId } from '../../model/user.ts'
import type { Expiring, Surplus } from './expiring.ts'
import type { List, Listed } from './page.ts'
import type { Reads, Rows } from './rows.ts'
import type { StoredUser } from './users.ts'

export interface SessionWithUser {
  readonly session: StoredSession
  readonly user: StoredUser | null
}

export interface SessionLists {
  readonly ofUser: List<{ readonly userId: UserId }, StoredSession, never>
}

/** The times at which a session is valid: it expires after `now`, and was used after `idleSince`. */
export interface SessionTimes {
  readonly now: number
  readonly idleSince: number
}

/** The surplus sessions of a user are valid sessions. */
export interface SessionStore
  extends Rows<StoredSession>,
    Pick<Reads<SessionWithUser, never, Digest>, 'find'>,
    Pick<Listed<SessionLists>, 'list'>,
    Expiring<SessionTimes>,
    Surplus<SessionTimes & { readonly userId: UserId }> {}
