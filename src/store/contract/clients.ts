import type { Digest } from '../../crypto/digest.ts'
import type { Sealed } from '../../crypto/sealed.ts'
import type { ClientFields } from '../../model/client.ts'
import type { UserId } from '../../model/user.ts'
import type { Cursor, Page } from './page.ts'
import type { StoredUser } from './users.ts'

export interface SealedClient {
  readonly fields: ClientFields
  /** Proves that the row is as we wrote it. */
  readonly seal: Sealed
  /** The same for what a token lookup reads of it. */
  readonly stateSeal: Sealed
}

export interface ClientWithOwner extends SealedClient {
  readonly owner: StoredUser | null
}

export interface ClientStore {
  find(clientId: string): Promise<ClientWithOwner | undefined>
  /** The client that has this secret, or had it before: expired or not. */
  findBySecret(digest: Digest): Promise<ClientWithOwner | undefined>
  /** False where the id or the secret is taken: try again with other random values. */
  insert(client: SealedClient): Promise<boolean>
  /**
   * Replaces every field of the client that has this id; the id may change too. With another key, it is another client
   * of that id: whatever belongs to the former is absent from then on, and listed to be removed. False: taken.
   */
  update(clientId: string, client: SealedClient, now: number): Promise<boolean>
  /**
   * Deletes the client: whatever belongs to it is absent from then on, and listed to be removed. In a transaction.
   * False where there was none.
   */
  delete(clientId: string, now: number): Promise<boolean>
  /** Ends the tokens that the client got for itself (RFC 6749 §4.4), and what was narrowed from them. */
  endOwnTokens(clientId: string): Promise<void>
  /**
   * Deletes at most `limit` unused clients that registered themselves before that time: those that act for nobody, without
   * a token, an authorization or a consent. One that may act for itself (`client_credentials`) is never unused.
   */
  deleteUnused(before: number, limit: number): Promise<number>
  /** The number of unused clients that registered themselves, before that time where one is given, as far as `most`. */
  countUnused(most: number, before?: number): Promise<number>
  /** How many applications a user registered, counted up to `most`: neither internal ones nor those behind a personal token. */
  countOfOwner(userId: UserId, most: number): Promise<number>
  /** The number of its tokens that are neither personal nor internal, counted up to `most`. */
  countUsers(clientId: string, most: number): Promise<number>
  /** The same for several clients, in one query. */
  countUsersOf(clientIds: readonly string[], most: number): Promise<ReadonlyMap<string, number>>
  /** The applications that a user registered: neither internal ones nor those behind a personal token. */
  ofOwner(userId: UserId, cursor: Cursor): Promise<Page<ClientWithOwner>>
  /** Applications whose name, id or owner's e-mail address contains the text; all of them without one. */
  search(text: string, cursor: Cursor): Promise<Page<ClientWithOwner>>
  /** The applications that act for a user: by consent, or by an authorization that lives. */
  authorizedBy(userId: UserId, now: number, cursor: Cursor): Promise<Page<ClientWithOwner>>
}
