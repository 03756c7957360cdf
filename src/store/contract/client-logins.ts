import type { UserId } from '../../model/user.ts'

/** The login of a user at a client. The server uses the login to notify the client of the logout. */
export interface ClientLogin {
  /** The digest of the session identifier. For a session of the server, this is the `id` of its `StoredSession`. */
  readonly session: string
  /** The claim `sid` of the ID token. */
  readonly sid: string
  readonly clientKey: number
  readonly userId: UserId
  /** The ID of the authorization of the login; null if the client received only an ID token. */
  readonly authorizationId: number | null
  /** Whether the client may keep its access after the logout (OpenID Connect Core §11). */
  readonly isOffline: boolean
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

/** A login whose session ended, with the client to notify. */
export interface EndedLogin extends ClientLogin {
  /** The current ID of the client; undefined if the client was deleted. */
  readonly clientId: string | undefined
}

/** Stores the logins of users at clients. Each `take…` function deletes rows and returns them. */
export interface ClientLoginStore {
  /**
   * Stores a login. Ignores a further login with the same authorization. Without an authorization, ignores a further
   * login with the same `sid` and client.
   */
  insert(login: ClientLogin): Promise<void>
  /** Deletes the login with this authorization, if one is stored. */
  deleteOf(authorizationId: number): Promise<void>
  /** Assigns the logins of the replaced session `from` to its successor `to`. */
  move(from: string, to: string): Promise<void>
  takeOfSession(session: string): Promise<readonly EndedLogin[]>
  takeOfUser(userId: UserId): Promise<readonly EndedLogin[]>
  /** Takes those logins of a user whose sessions no longer exist. */
  takeEnded(userId: UserId): Promise<readonly EndedLogin[]>
  /** Deletes at most `limit` expired rows. @returns the number of deleted rows */
  deleteExpired(now: number, limit: number): Promise<number>
}
