import type { KeyRing } from '../../crypto/sealed.ts'
import type { Client } from '../../model/client.ts'
import { clientStateClaims } from '../../model/entities/client.ts'
import { userClaims } from '../../model/entities/user.ts'
import type { FoundToken } from '../../model/token.ts'
import type { User } from '../../model/user.ts'
import type { ClientWithOwner } from '../../store/contract/clients.ts'
import type { TokenWithState } from '../../store/contract/tokens.ts'
import type { StoredUser } from '../../store/contract/users.ts'

/** The maximum number of cached users. The same maximum applies to cached clients. */
const maxEntries = 10_000

type ClientState = TokenWithState['client']

/**
 * Verifies the users and clients that token and session look-ups join. If a row equals the last verified row, its seal
 * is not verified again, because the comparison takes much less time.
 */
export class IntactState {
  readonly #keys: KeyRing
  readonly #users = new Map<unknown, { readonly row: StoredUser; readonly user: User }>()
  readonly #clients = new Map<unknown, ClientState>()
  /** The verified clients by their rows. A store with a cache returns the same row object while the row is unchanged. */
  readonly clients = new WeakMap<ClientWithOwner, Client>()
  /** The verified tokens by their rows. */
  readonly tokens = new WeakMap<TokenWithState, FoundToken>()

  constructor(keys: KeyRing) {
    this.#keys = keys
  }

  /** Returns the built-in user of a row; undefined if the seal is not valid. */
  user(row: StoredUser): User | undefined {
    const known = this.#users.get(row.id)
    if (known?.row.seal === row.seal && userClaims.isSame(known.row, row)) return known.user
    if (!this.#keys.isIntact(row.seal, userClaims(row))) return undefined
    const user = withoutSeal(row)
    remember(this.#users, row.id, { row, user })
    return user
  }

  /** Returns whether the seal of a client's state is valid. */
  isClient(state: ClientState): boolean {
    const known = this.#clients.get(state.clientKey)
    if (known?.stateSeal === state.stateSeal && clientStateClaims.isSame(known, state)) return true
    if (!this.#keys.isIntact(state.stateSeal, clientStateClaims(state))) return false
    remember(this.#clients, state.clientKey, state)
    return true
  }
}

// Evicts the oldest entry. Tracking the last use would cost more on every read.
const remember = <T>(map: Map<unknown, T>, key: unknown, value: T): void => {
  map.set(key, value)
  if (map.size > maxEntries) map.delete(map.keys().next().value)
}

/** Returns the user of a row. The rows of an application have no seal, but may have attributes and a creation time. */
export const withoutSeal = ({ attributes, createdAt, ...row }: StoredUser): User => {
  const { id, email, emailVerified, active, isAdmin } = row
  const user = { id, email, emailVerified, active, isAdmin }
  if (attributes === undefined && createdAt === undefined) return Object.freeze(user)
  return Object.freeze({ ...attributes, ...user, ...(createdAt !== undefined && { createdAt }) })
}
