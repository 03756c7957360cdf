import type { Digest } from '../../crypto/digest.ts'
import type { ClientFields, SealedClient } from '../../model/entities/client.ts'
import type { UserId } from '../../model/user.ts'
import type { Expiring } from './expiring.ts'
import type { List, Listed } from './page.ts'
import type { Reads, Removable, Rows } from './rows.ts'
import type { StoredUser } from './users.ts'

export interface ClientWithOwner extends SealedClient {
  readonly owner: StoredUser | null
}

/** The row of a client that this process has cached. The stored row may have changed since. */
export interface RecalledClient {
  readonly row: ClientWithOwner
  /** Identifies the state of the client and its owner. Every change of a column changes the version. */
  readonly version: string
}

/** The fields of an application by which users search, filter and sort. */
export type ClientSummary = Pick<
  ClientFields,
  'clientId' | 'name' | 'isConfidential' | 'isVerified' | 'isDisabled' | 'createdAt'
>

/** The fields of an application by which administrators filter and sort. */
export interface AnyClientSummary extends ClientSummary {
  readonly origin: ClientFields['origin']
  /** Whether the application has tokens other than personal, internal and exchanged tokens. */
  readonly isUsed: boolean
}

/** An application that a user authorized, with the scopes that the user granted and the last use of a token. */
export interface AuthorizedSummary extends ClientSummary {
  /** The scopes of the consent, and the scopes of the active authorizations. */
  readonly scopes: readonly string[]
  /** The last use of a token of an active authorization, in milliseconds since the epoch; null if never used. */
  readonly lastUsedAt: number | null
}

/** The lists of applications. They omit internal clients of users, and the clients of personal tokens. */
export interface ClientLists {
  /** The applications that a user registered. */
  readonly owned: List<{ readonly userId: UserId }, ClientWithOwner, ClientSummary>
  /** The applications with a consent or an active authorization of the user. */
  readonly authorized: List<
    { readonly userId: UserId; readonly now: number },
    ClientWithOwner,
    AuthorizedSummary
  >
  /** The applications whose name, ID or owner's e-mail address contains the text. An empty text matches all. */
  readonly matching: List<{ readonly text: string }, ClientWithOwner, AnyClientSummary>
  /** The applications with these IDs. */
  readonly among: List<{ readonly clientIds: readonly string[] }, ClientWithOwner, ClientSummary>
}

/** The values by which clients are found. */
export interface ClientConditions {
  /** The current or the former secret, even if the former secret has expired. */
  readonly secret: Digest
  /** The token with which a client manages its registration. */
  readonly registrationToken: Digest
}

/**
 * Unused clients that were created before a time. An unused client was not registered by a user, and has no token, no
 * authorization and no consent. Clients that are verified, disabled or pinned never count as unused.
 */
export interface UnusedClients {
  /** Milliseconds since the epoch. `deleteExpired` stores this time as the time of the deletion. */
  readonly before: number
  /**
   * Clients that may use one of these grant types never count as unused, because they may request new tokens after all
   * their tokens have expired. A client without `grant_types` may use every grant type.
   */
  readonly inUse: readonly string[]
}

/**
 * `find` finds a client by its ID or by a value of `ClientConditions`, and locks the row inside a transaction. A client
 * expires if it is unused. `delete` deletes the client with this ID.
 */
export interface ClientStore
  extends Pick<Rows<SealedClient>, 'insert'>,
    Pick<Reads<ClientWithOwner, ClientConditions, string>, 'find'>,
    Listed<ClientLists>,
    Removable<string>,
    Expiring<UnusedClients> {
  /**
   * Replaces all fields of the client, including its ID. If the key changes, the tokens, authorizations and consents of
   * the former key become invisible immediately, and are deleted later. The logo of a verified client is assigned to
   * the new key. The logo of an unverified client is deleted. Returns false if the new ID or secret is taken.
   */
  update(clientId: string, client: SealedClient, now: number): Promise<boolean>
  /**
   * Deletes at most `limit` clients of a user's personal tokens. The tokens become invisible immediately, and are
   * deleted later.
   * @returns the number of deleted clients
   */
  deletePersonalOf(userId: UserId, now: number, limit: number): Promise<number>
  /**
   * Invalidates the existing `client_credentials` tokens of the client (RFC 6749 §4.4), and the tokens that were
   * exchanged from them. The rows of these tokens remain until the tokens expire.
   */
  endOwnTokens(clientId: string): Promise<void>
  /** Counts, up to `max`, the tokens of each client. Omits personal, internal and exchanged tokens. */
  countTokens(clientIds: readonly string[], max: number): Promise<ReadonlyMap<string, number>>
}
