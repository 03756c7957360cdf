import type { UserId } from '../../model/user.ts'

/** A session in which a client learned who the user is, so that the client can be told about the logout. */
export interface ClientLogin {
  /**
   * The digest of the session's identifier: the `id` of `StoredSession`, unless the application has its own sessions.
   */
  readonly session: string
  /** The claim `sid` of the ID token. */
  readonly sid: string
  readonly clientKey: number
  readonly userId: UserId
  /** The authorization that ends with the session; null if the client received only an ID token. */
  readonly authorizationId: number | null
  /** Whether the client may keep its access after the logout (OpenID Connect Core §11). */
  readonly isOffline: boolean
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

/** A login that ended, with the client that has to be told. */
export interface EndedLogin extends ClientLogin {
  /** The current ID of the client; undefined if the client was deleted. */
  readonly clientId: string | undefined
}

/** Stores which clients learned about which sessions. Each `take` function removes and returns rows. */
export interface ClientLoginStore {
  /** Stores a login once for each authorization. Without an authorization, once for each session and client. */
  insert(login: ClientLogin): Promise<void>
  /** Assigns the logins of a session to the session that replaces it. */
  move(from: string, to: string): Promise<void>
  takeOfSession(session: string): Promise<readonly EndedLogin[]>
  takeOfUser(userId: UserId): Promise<readonly EndedLogin[]>
  /** Takes the logins of a user whose sessions do not exist any more. */
  takeEnded(userId: UserId): Promise<readonly EndedLogin[]>
  /** Deletes at most `limit` expired rows. @returns the number of deleted rows */
  deleteExpired(now: number, limit: number): Promise<number>
}
