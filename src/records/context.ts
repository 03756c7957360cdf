import type { PasswordHasher } from '../crypto/passwords/password.ts'
import type { RandomSource } from '../crypto/random.ts'
import type { KeyRing } from '../crypto/sealed.ts'
import type { ClientContext } from '../model/client.ts'
import type { Removal } from '../model/entities/removal.ts'
import type { TokenFields } from '../model/entities/token.ts'
import type { LogSink } from '../model/log.ts'
import type { SaveToken } from '../model/save-token.ts'
import type { ScopeRegistry } from '../model/scope.ts'
import { earliestRowOf, type User, type UserId } from '../model/user.ts'
import type { UserKeyType } from '../model/user-table.ts'
import type { Requester } from '../queues/fair-queue.ts'
import type { Settings } from '../settings/settings.ts'
import { UniqueViolation } from '../store/contract/errors.ts'
import type { Transients } from '../store/contract/transients.ts'
import type { StoredUser, UserWithPassword } from '../store/contract/users.ts'
import type { Store } from '../store/store.ts'
import type { AuditTrail } from './audit/audit-trail.ts'
import type { Limits } from './limits.ts'
import type { IntactState } from './seals/intact-state.ts'
import type { TokenBounds } from './tokens/token-bounds.ts'
import type { Turns } from './turns.ts'

/**
 * Creates a self-contained access token (RFC 9068) with the values of these fields.
 * @param store the store of the caller, which may belong to a transaction
 */
export type MintAccessToken = (fields: Omit<TokenFields, 'id'>, store: Store) => Promise<string>

/** A user whose password was correct, with the password hash. The hash is null if the application checks passwords. */
export type CheckedUser = Omit<UserWithPassword, 'seal'>

/** Finds users. The store of the context may belong to a transaction. */
export interface UserLookUps {
  /** Whether a statement of the store can read the users. */
  readonly areInStore: boolean
  readonly canFindByEmail: boolean
  readonly canSearch: boolean
  find(id: UserId, context: RecordsContext): Promise<User | undefined>
  /**
   * Returns the user to whom a row belongs; null if the user does not exist, or was tampered with.
   * @param joined the user that a query joined to the row
   */
  current(
    id: UserId,
    joined: StoredUser | null,
    context: RecordsContext,
  ): User | null | Promise<User | null>
  /** @throws NotOurUsers if the application finds users by ID only */
  findByEmail(email: string, context: RecordsContext): Promise<User | undefined>
  /** Lists all users in the order of their IDs. @throws NotOurUsers if only the application can list the users */
  all(context: RecordsContext): AsyncIterable<User>
  /** Lists users after the ID `after`, in the order of their IDs. `Users.search` describes the text. */
  search(
    text: string,
    page: { readonly after: UserId | null; readonly limit: number },
    context: RecordsContext,
  ): Promise<readonly User[]>
}

/** The built-in users, or the users in a table or behind the callbacks of the application. */
export interface UsersPort extends UserLookUps {
  readonly keyType: UserKeyType
  /** Whether the server creates, changes and deletes the users. */
  readonly areBuiltIn: boolean
  readonly canSetActive: boolean
  /** Returns the active user with this password. A refused user is returned for the audit log. */
  checked(
    email: string,
    password: string,
    requester: Requester,
    context: RecordsContext,
  ): Promise<{ readonly checked: CheckedUser } | { readonly refused: User | undefined }>
  /** @throws NotOurUsers if the application did not pass `withPassword` */
  isPassword(id: UserId, password: string, context: RecordsContext): Promise<boolean>
  /** Returns the current value of `passwordMarkOf` for a user; undefined if the user does not exist or is inactive. */
  passwordMark(id: UserId, context: RecordsContext): Promise<string | undefined>
  /** Returns false if the user does not exist. @throws NotOurUsers if the application did not pass `setActive` */
  setActive(id: UserId, active: boolean, context: RecordsContext): Promise<boolean>
}

/** The parts of the server that records use. If `store` belongs to a transaction, the records use this transaction. */
export interface RecordsContext {
  readonly store: Store
  /** Queues transactions that lock the same row. */
  readonly turns: Turns
  /** Short-lived values, in the store or in the cache that `OAUTH2_CACHE_TYPE` selects. */
  readonly transients: Transients
  readonly settings: Settings
  readonly scopes: ScopeRegistry
  readonly keys: KeyRing
  readonly intact: IntactState
  readonly passwords: PasswordHasher
  /** Returns the requester of a password check for which the caller names no requester. */
  readonly requester: () => Requester
  readonly limits: Limits
  readonly clientContext: Omit<ClientContext, 'countTokens'>
  readonly users: UsersPort
  /** The function of the application that wraps the saving of a token: `save_token` of the specification. */
  readonly saveToken: SaveToken | undefined
  /** Creates self-contained access tokens; undefined if access tokens are random values. */
  readonly mint?: MintAccessToken | undefined
  readonly clock: () => number
  readonly random: RandomSource
  readonly log: LogSink
  readonly audit: AuditTrail
  readonly bounds: TokenBounds
  /** Removes the rows of a deleted client or user in the background, after the commit of the transaction. */
  readonly removed: (removal: Pick<Removal, 'kind' | 'key'>) => Promise<void>
  /** Stores notices for the clients at which a deleted user is logged in. They are sent after the commit. */
  readonly endLogins: (userId: UserId, store: Store) => Promise<void>
  /** Fetches the requested logo of a client in the background, after the commit of the transaction. */
  readonly fetchLogo: (clientId: string) => void
}

/** The key of the records' context in a server. Only this package uses the context. */
export const internals: unique symbol = Symbol.for('svc-oauth2server internals')

/** Runs work in one transaction. The effects of `removed` and `fetchLogo` start after the commit. */
export const withinTransaction = async <T>(
  context: RecordsContext,
  work: (tx: RecordsContext) => Promise<T>,
): Promise<T> => {
  let deleted: Parameters<RecordsContext['removed']>[0][] = []
  let logos: string[] = []
  const result = await context.store.transaction((store) => {
    deleted = []
    logos = []
    const removed: RecordsContext['removed'] = async (one) => void deleted.push(one)
    return work({ ...context, store, removed, fetchLogo: (clientId) => void logos.push(clientId) })
  })
  for (const one of deleted) await context.removed(one)
  for (const clientId of logos) context.fetchLogo(clientId)
  return result
}

const maxAttempts = 5

/** Repeats an attempt while the attempt returns undefined or throws `UniqueViolation`, at most five times. */
export const retryOnCollision = async <T>(attempt: () => Promise<T | undefined>): Promise<T> => {
  for (let tries = 0; tries < maxAttempts; tries += 1) {
    try {
      const made = await attempt()
      if (made !== undefined) return made
    } catch (error) {
      if (!(error instanceof UniqueViolation)) throw error
    }
  }
  throw new Error('The random source repeats values: no unused value was found.')
}

/**
 * Returns the current user to whom a row belongs; null if the user does not exist. Also returns null for a row that is
 * more than a minute older than the user. This row belongs to a former user with the same ID.
 * @param joined the user that a query joined to the row
 */
export const userOfRow = (
  { userId, createdAt }: { readonly userId: UserId | null; readonly createdAt: number },
  joined: StoredUser | null,
  context: RecordsContext,
): User | null | Promise<User | null> => {
  if (userId === null) return null
  const found = context.users.current(userId, joined, context)
  const own = (user: User | null) => (user && createdAt >= earliestRowOf(user) ? user : null)
  return found instanceof Promise ? found.then(own) : own(found)
}

/**
 * Returns the earliest possible creation time of a row of this user, in milliseconds since the epoch. Returns 0 for
 * built-in users, and if the creation time of the user is unknown.
 */
export const earliestRow = async (userId: UserId, context: RecordsContext): Promise<number> =>
  context.users.areBuiltIn ? 0 : earliestRowOf(await context.users.find(userId, context))
