import type { Requester } from '../crypto/passwords/fair-queue.ts'
import type { PasswordHasher } from '../crypto/passwords/password.ts'
import type { RandomSource } from '../crypto/random.ts'
import type { KeyRing } from '../crypto/sealed.ts'
import type { ClientContext } from '../model/client.ts'
import type { LogSink } from '../model/log.ts'
import type { SaveToken } from '../model/save-token.ts'
import type { ScopeRegistry } from '../model/scope.ts'
import type { TokenFields } from '../model/token.ts'
import type { UserId } from '../model/user.ts'
import type { FindByPassword, SetActive, UserCallbacks, UserKeyType } from '../model/user-table.ts'
import type { Settings } from '../settings/settings.ts'
import { UniqueViolation } from '../store/contract/errors.ts'
import type { Removal } from '../store/contract/sweeper.ts'
import type { Transients } from '../store/contract/transients.ts'
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
  /** Looks up users of the application; undefined if the store can read the users. */
  readonly hostUsers: UserCallbacks | undefined
  readonly userKeyType: UserKeyType
  /** The callback of the application that checks passwords; undefined if the application passed no callback. */
  readonly withPassword: FindByPassword | undefined
  /** The callback of the application that deactivates users; undefined if the application passed no callback. */
  readonly setActive: SetActive | undefined
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
