import { setImmediate as nextTurn } from 'node:timers/promises'
import { sha256 } from '../crypto/digest.ts'
import type { Requester } from '../crypto/fair-queue.ts'
import { emailKey, validEmail, validPassword } from '../model/field-rules.ts'
import { InvalidField } from '../model/invalid-field.ts'
import type { FoundToken } from '../model/token.ts'
import { type User, type UserId, UserProxy, type UserSource } from '../model/user.ts'
import type { Store, TokenWithState, UserWithPassword } from '../store/store.ts'
import { ofUser } from './audit-trail.ts'
import { passwordClaims } from './claims.ts'
import type { RecordsContext } from './context.ts'

/** Rows of a user of the application that one statement removes. */
const removedAtOnce = 100

type AdminEvent = 'user.admin_granted' | 'user.admin_withdrawn'

export interface UserInput {
  readonly email: string
  /** Null: this user cannot log in with a password. */
  readonly password: string | null
  readonly active?: boolean
  readonly emailVerified?: boolean
  readonly isAdmin?: boolean
}

/** The built-in users. */
export class Users implements UserSource {
  readonly #context: RecordsContext

  constructor(context: RecordsContext) {
    this.#context = context
  }

  async find(id: UserId): Promise<User | undefined> {
    if (this.#context.hostUsers) return this.#context.hostUsers.find(id)
    const found = await this.#context.store.users.find(id)
    return found && withoutPassword(found)
  }

  /** The user of an id that the store has joined already, where it can see the users. */
  async joined(id: UserId | null, user: User | null): Promise<User | null> {
    const { hostUsers } = this.#context
    return hostUsers && id !== null ? ((await hostUsers.find(id)) ?? null) : user
  }

  /** User and owner of a token as they are now: joined by the store, or asked of the application. */
  async stateOf({
    fields,
    user,
    client,
  }: TokenWithState): Promise<Pick<FoundToken, 'user' | 'client'>> {
    if (!this.#context.hostUsers) return { user, client }
    const current = await this.joined(fields.userId, user)
    const owner =
      client.ownerId === fields.userId ? current : await this.joined(client.ownerId, null)
    const ownerActive = client.ownerId === null || owner?.active === true
    return { user: current, client: { ...client, ownerActive } }
  }

  async findByEmail(email: string): Promise<User | undefined> {
    const found = await this.#byEmail(email)
    return found && withoutPassword(found)
  }

  /** The user proxy that `toJSON()` reduced to this id. */
  fromId(id: UserId): Promise<UserProxy | undefined> {
    return UserProxy.fromId(id, this)
  }

  /**
   * @returns the new user's id
   * @throws InvalidField, also for an e-mail address that is taken
   */
  async create(input: UserInput): Promise<User> {
    const { store, clock, audit } = this.#context
    const email = validEmail(input.email)
    const { password } = input
    const passwordHash = password === null ? null : await this.#sealedHash(email, password)
    const user = {
      email,
      active: input.active ?? true,
      emailVerified: input.emailVerified ?? true,
      isAdmin: input.isAdmin ?? false,
    }
    return store.transaction(async (tx) => {
      const id = await tx.users.insert({ ...user, passwordHash, createdAt: clock() })
      if (id === undefined) throw new InvalidField('email', 'This e-mail address is taken.')
      const created = { id, ...user }
      await audit.add(tx, 'user.created', { ...ofUser(created), details: {} })
      return created
    })
  }

  /** The active user with this e-mail address and password; every failure takes the same time. */
  async withPassword(email: string, password: string): Promise<User | undefined> {
    const found = await this.checked(email, password)
    return found && withoutPassword(found)
  }

  /**
   * The same with the hash that was checked, since the password may change before it is acted upon.
   * @param requester whose turn it is in the queue of passwords; the network of the request, unless given
   */
  async checked(
    email: string,
    password: string,
    requester: Requester = this.#context.requester(),
  ): Promise<UserWithPassword | undefined> {
    const { hostUsers, passwords } = this.#context
    if (hostUsers) {
      const user = await hostUsers.withPassword?.(email, password)
      return user?.active ? { ...user, passwordHash: null } : this.#refused(user)
    }
    const found = await this.#byEmail(email)
    const matches = await passwords.check(password, this.#hashOf(found), requester)
    return found?.active && matches ? found : this.#refused(found)
  }

  // Whose address it is, and never what was typed: people enter their password in the wrong field.
  #refused(user: User | undefined): undefined {
    const by = { actor: 'unknown' } as const
    this.#context.audit.addLoginFailure({ ...ofUser(user), by, details: { count: 1 } })
  }

  /** @throws PasswordHashingBusy where too many passwords of this requester wait already */
  requireRoom(requester: Requester): void {
    const { hostUsers, passwords } = this.#context
    if (!hostUsers) passwords.requireRoom(requester)
  }

  /** What changes with the password of a user; empty where the application has the passwords. */
  markOf(user: UserWithPassword): string {
    const hash = this.#hashOf(user)
    return hash === undefined ? '' : sha256(hash)
  }

  /** The same of the user of an id as it is now; undefined where the user is gone or inactive. */
  async passwordMark(id: UserId): Promise<string | undefined> {
    const { hostUsers, store } = this.#context
    if (hostUsers) return (await hostUsers.find(id))?.active ? '' : undefined
    const user = await store.users.find(id)
    return user?.active ? this.markOf(user) : undefined
  }

  /** Whether the password is still the one that was checked, whatever key its hash is sealed under by now. */
  async hasStill(id: UserId, passwordHash: string): Promise<boolean> {
    const user = await this.#context.store.users.find(id)
    if (!user || user.passwordHash === passwordHash) return user !== undefined
    const checked = this.#hashOf({ ...user, passwordHash })
    return checked !== undefined && checked === this.#hashOf(user)
  }

  /**
   * Whether this is the user's password: for code of the application. Wrong ones are counted by user, apart from those of
   * the login page.
   * @throws OAuthError 429 with `Retry-After` after too many wrong ones
   */
  async checkPassword(id: UserId, password: string): Promise<boolean> {
    const { store, passwords, limits } = this.#context
    const giveBack = await limits.attempt('guessesOfAccount', '', `user ${id}`)
    let isRight: boolean | undefined
    try {
      isRight = await passwords.check(password, this.#hashOf(await store.users.find(id)))
      return isRight
    } finally {
      // One that could not be checked is no wrong one.
      if (isRight !== false) await giveBack()
    }
  }

  /** Sets the password and ends the user's sessions; personal tokens and authorizations stay. */
  async setPassword(id: UserId, password: string): Promise<boolean> {
    const { store, audit } = this.#context
    const user = await store.users.find(id)
    const passwordHash = await this.#sealedHash(user?.email ?? '', password)
    return store.transaction(async (tx) => {
      // The password first: a login that is under way holds the user, and has its session when it lets go.
      const isSet = await tx.users.setPassword(id, passwordHash)
      const count = await tx.sessions.deleteOfUser(id)
      if (!isSet) return false
      await audit.add(tx, 'user.password_changed', { ...ofUser(user), details: {} })
      const details = { reason: 'password', count }
      if (count > 0) await audit.add(tx, 'session.ended', { ...ofUser(user), details })
      return true
    })
  }

  /** An inactive user's tokens and clients are invalid from the next request on, until reactivated. */
  setActive(id: UserId, active: boolean): Promise<boolean> {
    const event = active ? 'user.activated' : 'user.deactivated'
    return this.#changed(id, event, (tx) => tx.users.setActive(id, active))
  }

  /** Whether the user may use the administrator's page. */
  setAdmin(id: UserId, isAdmin: boolean): Promise<boolean> {
    const event = isAdmin ? 'user.admin_granted' : 'user.admin_withdrawn'
    return this.#changed(id, event, (tx) => tx.users.setAdmin(id, isAdmin))
  }

  /**
   * Tells us that the application deletes a user of its own: all that belongs to the user is removed in small parts.
   * Once it returns, nothing is left. Call it again after a failure.
   */
  async deleted(id: UserId): Promise<void> {
    const { store, audit } = this.#context
    while ((await store.userData.deleteSome(id, removedAtOnce)) > 0) await nextTurn()
    await store.sweeperNotes.delete('missing user', [String(id)])
    await audit.add(store, 'user.deleted', { userId: id, details: {} })
  }

  /**
   * Deletes the user: clients, tokens, consents and sessions are of no use from the next request on, and are removed
   * in the background. False where there was none.
   */
  async delete(id: UserId): Promise<boolean> {
    const { clock, removed } = this.#context
    const isDeleted = await this.#changed(id, 'user.deleted', (tx) => tx.users.delete(id, clock()))
    if (isDeleted) await removed({ kind: 'user', key: Number(id) })
    return isDeleted
  }

  async #changed(
    id: UserId,
    event: 'user.activated' | 'user.deactivated' | 'user.deleted' | AdminEvent,
    change: (tx: Store) => Promise<boolean>,
  ): Promise<boolean> {
    const { store, audit } = this.#context
    const user = await store.users.find(id)
    return store.transaction(async (tx) => {
      if (!(await change(tx))) return false
      await audit.add(tx, event, { ...ofUser(user), details: {} })
      return true
    })
  }

  // Sealed to its user, so that a hash which somebody wrote into the table opens nothing.
  async #sealedHash(email: string, password: string): Promise<string> {
    const { passwords, keys } = this.#context
    return keys.seal('row', await passwords.hash(validPassword(password)), passwordClaims(email))
  }

  #hashOf(user: UserWithPassword | undefined): string | undefined {
    if (!user?.passwordHash) return undefined
    return this.#context.keys.open('row', user.passwordHash, passwordClaims(user.email))
  }

  async #byEmail(email: string): Promise<UserWithPassword | undefined> {
    const key = emailKey(email)
    return key === undefined ? undefined : this.#context.store.users.findByEmail(key)
  }
}

const withoutPassword = ({ passwordHash: _, ...user }: UserWithPassword): User => user
