import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Digest, sha256 } from '../../crypto/digest.ts'
import type { Requester } from '../../crypto/passwords/fair-queue.ts'
import { randomNumber } from '../../crypto/random.ts'
import { emailKey, emailPrefixes, emailSpellings, validEmail } from '../../model/email-address.ts'
import { validPassword } from '../../model/field-rules.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import { flag, onlyMembers, orNull, text } from '../../model/members.ts'
import type { FoundToken } from '../../model/token.ts'
import {
  earliestRowOf,
  type User,
  type UserId,
  UserProxy,
  type UserSource,
} from '../../model/user.ts'
import { userIdIn, withStorableId } from '../../model/user-id.ts'
import type { UserKeyType } from '../../model/user-table.ts'
import { NotOurUsers, UniqueViolation } from '../../store/contract/errors.ts'
import type { Cursor, Page } from '../../store/contract/page.ts'
import type { TokenWithState } from '../../store/contract/tokens.ts'
import type { StoredUser, UserWithPassword } from '../../store/contract/users.ts'
import type { Store } from '../../store/store.ts'
import { byUser, ofUser } from '../audit/audit-trail.ts'
import { type RecordsContext, retryOnCollision, withinTransaction } from '../context.ts'
import { mustHaveKeyOf } from '../keys/noted-keys.ts'
import { passwordClaims, userClaims } from '../seals/claims.ts'
import { noteDeletedUser } from './reused-ids.ts'

/** The maximum number of users that one statement lists. */
const listedAtOnce = 500

/** The maximum number of rows that one statement deletes after the application has deleted a user. */
const removedAtOnce = 100

type AdminEvent = 'user.admin_granted' | 'user.admin_withdrawn'

/** The values of a new built-in user. */
export interface UserInput {
  readonly email: string
  /** Null if the user cannot log in with a password. */
  readonly password: string | null
  readonly active?: boolean
  readonly emailVerified?: boolean
  readonly isAdmin?: boolean
}

const checkInput = onlyMembers<UserInput>('users.create()', {
  email: text,
  password: orNull(text),
  active: flag,
  emailVerified: flag,
  isAdmin: flag,
})

const checkEmailOptions = onlyMembers<{ readonly emailVerified?: boolean }>('users.setEmail()', {
  emailVerified: flag,
})

type State = Pick<FoundToken, 'user' | 'client'>

/** A user whose password was correct, with the password hash. The hash is null if the application checks passwords. */
export type CheckedUser = Omit<UserWithPassword, 'seal'>

/**
 * The built-in users, or the users of the application. A row of a built-in user that was tampered with is treated like
 * a missing row.
 */
export class Users implements UserSource {
  readonly #context: RecordsContext

  constructor(context: RecordsContext) {
    this.#context = context
  }

  /** Returns the user with this ID, built-in or of the application; undefined if the user does not exist. */
  async find(id: UserId): Promise<User | undefined> {
    if (this.#context.hostUsers) return withStorableId(await this.#context.hostUsers.find(id))
    return withStorableId(await this.#intact(await this.#context.store.users.find(id)))
  }

  /**
   * Returns the current user to whom a row belongs; null if the user does not exist. Also returns null for a row that
   * is more than a minute older than the user. This row belongs to a former user with the same ID.
   * @internal
   */
  async joined(
    { userId, createdAt }: { readonly userId: UserId | null; readonly createdAt: number },
    user: StoredUser | null,
  ): Promise<User | null> {
    const found = await this.current(userId, user)
    return found && createdAt >= earliestRowOf(found) ? found : null
  }

  /**
   * Returns the current user with this ID; null if the user does not exist. If the application finds its users by
   * callbacks, calls the callback. Otherwise, verifies and returns `user`, which a query joined to another row.
   * @internal
   */
  async current(id: UserId | null, user: StoredUser | null): Promise<User | null> {
    const { hostUsers } = this.#context
    if (hostUsers && id !== null) return (await hostUsers.find(id)) ?? null
    return (await this.#intact(user ?? undefined)) ?? null
  }

  /**
   * Returns the earliest possible creation time of a row of this user, in milliseconds since the epoch. Returns 0 for
   * built-in users, and if the creation time of the user is unknown.
   * @internal
   */
  async earliestRow(id: UserId): Promise<number> {
    return this.#context.intact.hasBuiltInUsers ? 0 : earliestRowOf(await this.find(id))
  }

  /**
   * Returns the current user of a token, and the state of its client and of the owner of that client. Returns undefined
   * if the row of the user or of the client was tampered with.
   * @internal
   */
  async stateOf(row: TokenWithState): Promise<State | undefined> {
    const { fields, user, client } = row
    const state = this.joinedState(row)
    if (!state) return this.#tamperedState(row)
    if (!this.#context.hostUsers) return state
    const { userId, createdAt } = fields
    const { ownerId } = client
    const found = await this.current(userId, user)
    const owner = ownerId === userId ? found : await this.current(ownerId, null)
    const isOwn = owner?.active === true && client.createdAt >= earliestRowOf(owner)
    return {
      user: found && createdAt >= earliestRowOf(found) ? found : null,
      client: { ...client, ownerActive: ownerId === null || isOwn },
    }
  }

  /**
   * Returns the joined user and client of a token row; undefined if one of the rows was tampered with.
   * @internal
   */
  joinedState({ user, client }: TokenWithState): State | undefined {
    const { intact } = this.#context
    if (!intact.isClient(client)) return undefined
    if (user === null) return { user, client }
    const known = intact.user(user)
    return known && { user: known, client }
  }

  /** The type of the user IDs. */
  get keyType(): UserKeyType {
    return this.#context.userKeyType
  }

  /**
   * Returns the user with this e-mail address in any spelling.
   * @throws NotOurUsers if the application finds users by ID only
   */
  async findByEmail(email: string): Promise<User | undefined> {
    const { hostUsers } = this.#context
    if (!hostUsers) return this.#intact((await this.#byEmail(email))[0])
    const { findByEmail } = hostUsers
    if (!findByEmail)
      throw new NotOurUsers(
        'The application finds its users by ID only: pass an ID, or add findByEmail to the option users.',
      )
    return firstFound(heldSpellings(email), (spelling) => findByEmail(spelling))
  }

  /**
   * Lists all users in the order of their IDs.
   * @throws NotOurUsers if the application finds its users by callbacks
   */
  async *all(): AsyncGenerator<User> {
    const { store, hostUsers } = this.#context
    if (hostUsers)
      throw new NotOurUsers(
        'The application finds its users by callbacks, so only the application can list all users.',
      )
    let after: UserId | null = null
    for (;;) {
      const rows: readonly StoredUser[] = await store.users.list(after, listedAtOnce)
      for (const row of rows) {
        const user = await this.#intact(row)
        if (user) yield withoutPassword(user)
      }
      after = rows.at(-1)?.id ?? null
      if (rows.length < listedAtOnce) return
    }
  }

  /** Whether users can be listed and searched by the beginning of their e-mail address. */
  get canSearch(): boolean {
    const { hostUsers } = this.#context
    return !hostUsers || hostUsers.search !== undefined
  }

  /** Whether this server can deactivate and activate users. */
  get canSetActive(): boolean {
    return this.#context.intact.hasBuiltInUsers || this.#context.setActive !== undefined
  }

  /**
   * Lists the user whose ID is the text, and then the users whose e-mail address begins with the text, in the order of
   * their IDs. Lists all users for an empty text. If the application finds its users by callbacks and has no callback
   * `search`, finds a user only by ID or by the complete e-mail address. The search by address requires `findByEmail`.
   */
  async search(text: string, { after, limit }: Cursor): Promise<Page<User>> {
    const { store, hostUsers, userKeyType } = this.#context
    const start = after === null ? null : (userIdIn(after, userKeyType) ?? null)
    const id = userIdIn(text, userKeyType)
    const exact = start === null && id !== undefined ? await this.find(id) : undefined
    const listed = async (): Promise<readonly User[]> => {
      if (hostUsers?.search) {
        // The application may hold the address in another spelling than the administrator typed.
        for (const typed of start === null ? new Set([text, ...emailPrefixes(text)]) : [text]) {
          const listed = await hostUsers.search(typed, { after: start, limit: limit + 1 })
          if (listed.length > 0) return listed
        }
        return []
      }
      if (hostUsers) {
        const isEmail = text.includes('@') && hostUsers.findByEmail
        const found = isEmail && start === null ? await this.findByEmail(text) : undefined
        return found ? [found] : []
      }
      const rows = await (text === ''
        ? store.users.list(start, limit + 1)
        : store.users.search(emailPrefixes(text), start, limit + 1))
      const users = await Promise.all(rows.map((row) => this.#intact(row)))
      return users.filter((user) => user !== undefined)
    }
    const found = (await listed()).slice(0, limit + 1)
    const items = found.slice(0, limit)
    const all = exact ? [exact, ...items.filter((user) => user.id !== exact.id)] : items
    return {
      items: all.map(withoutPassword),
      next: found.length > limit ? String(items.at(-1)?.id) : null,
    }
  }

  /** Restores a user proxy from the ID that its `toJSON()` returned. */
  fromId(id: UserId): Promise<UserProxy | undefined> {
    return UserProxy.fromId(id, this)
  }

  /**
   * Creates a user. Stores the normal form of the e-mail address.
   * @throws InvalidField for an invalid value or a taken e-mail address; PasswordHashingBusy if too many passwords wait
   */
  async create(input: UserInput): Promise<User> {
    checkInput(input)
    const email = validEmail(input.email)
    const { password, active = true, emailVerified = true, isAdmin = false } = input
    const { passwords, requester } = this.#context
    const hash =
      password === null ? null : await passwords.hash(validPassword(password), requester())
    const user = await this.#insert({ email, active, emailVerified, isAdmin }, hash)
    if (user) return user
    throw taken()
  }

  /**
   * Creates a user who proved the control of the e-mail address.
   * @param hash the hash of the password
   * @returns false if the e-mail address is taken
   * @internal
   */
  async signUp(email: string, hash: string): Promise<boolean> {
    const fields = { email, active: true, emailVerified: true, isAdmin: false }
    return (await this.#insert(fields, hash, byUser)) !== undefined
  }

  #insert(
    fields: Omit<User, 'id'>,
    hash: string | null,
    by?: typeof byUser,
  ): Promise<User | undefined> {
    const { store, clock, audit, random } = this.#context
    return retryOnCollision(async () => {
      const user = { id: randomNumber(random), ...fields }
      const passwordHash = hash === null ? null : this.#sealedHash(user, hash)
      return store.transaction(async (tx) => {
        const row = { ...this.#sealed(user), passwordHash, createdAt: clock() }
        // A row of an earlier version may hold the address in another spelling.
        const others = (await byEmail(user.email, tx)).length
        if (others > 0 || !(await tx.users.insert(row))) return { user: undefined }
        const actor = by && { by: by(user) }
        await audit.add(tx, 'user.created', { ...ofUser(user), ...actor, details: {} })
        return { user }
      })
    }).then(({ user }) => user)
  }

  /**
   * Returns the active user with this e-mail address and password; undefined if the check fails. For built-in users,
   * the time of a failure does not reveal its cause.
   */
  async withPassword(email: string, password: string): Promise<User | undefined> {
    const found = await this.checked(email, password)
    return found && withoutPassword(found)
  }

  /**
   * Checks a password. Returns the active user with the password hash, by which the caller can detect a later change of
   * the password. Returns undefined if the check fails.
   * @param requester the requester in the hashing queue. Default: the network of the request, or the application itself
   * @internal
   */
  async checked(
    email: string,
    password: string,
    requester: Requester = this.#context.requester(),
  ): Promise<CheckedUser | undefined> {
    const { intact, passwords, withPassword } = this.#context
    if (!intact.hasBuiltInUsers) {
      const found =
        withPassword &&
        (await firstFound(heldSpellings(email), (spelling) => withPassword(spelling, password)))
      const user = found && (await this.find(found.id))
      return user?.active ? { ...user, passwordHash: null } : this.#refused(user)
    }
    // Several rows hold spellings of one address only if an earlier version created them. The password decides.
    const [first, ...others] = await this.#byEmail(email)
    for (const row of [first, ...others]) {
      const found = (await this.#intact(row)) && row
      const matches = await passwords.check(password, this.#hashOf(found), requester)
      if (found?.active && matches) return found
    }
    return this.#refused((await this.#intact(first)) && first)
  }

  // Record the user, but never the typed e-mail address, because people sometimes type their password in that field.
  #refused(user: User | undefined): undefined {
    const by = { actor: 'unknown' } as const
    this.#context.audit.addLoginFailure({ ...ofUser(user), by, details: { count: 1 } })
  }

  /**
   * Checks that the hashing queue has space.
   * @throws PasswordHashingBusy if too many passwords of this requester wait
   * @internal
   */
  requireRoom(requester: Requester): void {
    const { intact, passwords } = this.#context
    if (intact.hasBuiltInUsers) passwords.requireRoom(requester)
  }

  /**
   * Returns a value that changes with the password of the user; empty if the application manages the passwords.
   * @internal
   */
  markOf(user: CheckedUser): string {
    const hash = this.#hashOf(user)
    return hash === undefined ? '' : sha256(hash)
  }

  /** Returns the built-in user with this e-mail address, and the value of `markOf`. @internal */
  async withMark(email: string): Promise<(User & { readonly mark: string }) | undefined> {
    const [row] = await this.#byEmail(email)
    const user = (await this.#intact(row)) && row
    return user && { ...withoutPassword(user), mark: this.markOf(user) }
  }

  /**
   * Returns the current value of `markOf` for a user; undefined if the user does not exist or is inactive.
   * @internal
   */
  async passwordMark(id: UserId): Promise<string | undefined> {
    const { hostUsers, store } = this.#context
    if (hostUsers) return (await hostUsers.find(id))?.active ? '' : undefined
    const row = await store.users.find(id)
    const user = (await this.#intact(row)) && row
    return user?.active ? this.markOf(user) : undefined
  }

  /** Returns whether the user still has this password hash. Ignores a change of the hash's seal. @internal */
  async hasStill(id: UserId, passwordHash: string): Promise<boolean> {
    const user = await this.#context.store.users.find(id)
    if (!user || !(await this.#intact(user))) return false
    if (user.passwordHash === passwordHash) return true
    const checked = this.#hashOf({ ...user, passwordHash })
    return checked !== undefined && checked === this.#hashOf(user)
  }

  /**
   * Returns whether the password of a user is correct. The application calls this method. Wrong passwords are counted
   * by user, separately from wrong passwords on the login page.
   * @throws OAuthError 429 with `Retry-After` after too many wrong passwords; NotOurUsers for users of the application
   * without `withPassword`
   */
  async checkPassword(id: UserId, password: string): Promise<boolean> {
    const { limits } = this.#context
    const giveBack = await limits.attempt('guessesOfAccount', '', `user ${id}`)
    let isRight: boolean | undefined
    try {
      isRight = await this.#isPassword(id, password)
      return isRight
    } finally {
      // Count only wrong passwords: release the place if the password was right or could not be checked.
      if (isRight !== false) await giveBack()
    }
  }

  async #isPassword(id: UserId, password: string): Promise<boolean> {
    const { store, passwords, intact, withPassword } = this.#context
    if (intact.hasBuiltInUsers) {
      const row = await store.users.find(id)
      const user = (await this.#intact(row)) && row
      return passwords.check(password, this.#hashOf(user))
    }
    if (!withPassword)
      throw new NotOurUsers(
        'The application checks the passwords of its users: add withPassword to the option users.',
      )
    const user = await this.find(id)
    const found =
      user &&
      (await firstFound(heldSpellings(user.email), (spelling) => withPassword(spelling, password)))
    return found?.id === id
  }

  /**
   * Sets the password and deletes the sessions of the user. Personal tokens and authorizations remain valid.
   * @returns false if the user does not exist
   * @throws InvalidField for a password that is too short or too long; NotOurUsers for users of the application
   */
  setPassword(id: UserId, password: string): Promise<boolean> {
    return this.#setPassword(id, password)
  }

  /**
   * Replaces a password that `checked` verified. Deletes all sessions of the user except for `session`.
   * @returns false if the password was changed concurrently
   * @throws InvalidField for a password that is too short or too long
   * @internal
   */
  replacePassword({ id, passwordHash }: CheckedUser, password: string, session: Digest) {
    return this.#setPassword(id, password, { passwordHash, session })
  }

  /**
   * Sets the password of a user who proved the control of the e-mail address. Deletes all sessions of the user.
   * @param mark the value of `markOf` when the proof was requested
   * @param hash the hash of the new password
   * @returns false if the user was deactivated or deleted, or received another password
   * @internal
   */
  resetPassword(id: UserId, mark: string, hash: string): Promise<boolean> {
    return withinTransaction(this.#context, async (context) => {
      const users = new Users(context)
      // Reading in the transaction locks the row, so that only one of two concurrent resets finds this mark.
      if ((await users.passwordMark(id)) !== mark) return false
      const user = await users.find(id)
      if (!user) return false
      await users.#writePassword(user, this.#sealedHash(user, hash))
      return user.emailVerified || users.verifyEmail(id)
    })
  }

  async #setPassword(
    id: UserId,
    password: string,
    kept?: { readonly passwordHash: string | null; readonly session: Digest },
  ): Promise<boolean> {
    const { store, passwords, requester } = this.#context
    const row = await store.users.find(id)
    const user = await this.#intact(row)
    if (row && !user) return false
    const hash = await passwords.hash(validPassword(password), requester())
    const passwordHash = this.#sealedHash({ id, email: user?.email ?? '' }, hash)
    return store.transaction(async (tx) => {
      const { passwordHash: before } = kept ?? {}
      const users = new Users({ ...this.#context, store: tx })
      if (before && !(await users.hasStill(id, before))) return false
      return users.#writePassword({ ...user, id }, passwordHash, kept?.session)
    })
  }

  async #writePassword(
    user: Pick<User, 'id'> & Partial<Pick<User, 'email'>>,
    passwordHash: string,
    keptSession?: Digest,
  ): Promise<boolean> {
    const { store, audit } = this.#context
    // Change the password first: the statement waits for concurrent logins, so their sessions are then also deleted.
    const isSet = await store.users.setPassword(user.id, passwordHash)
    const count = await store.sessions.deleteOfUser(user.id, keptSession)
    if (!isSet) return false
    await audit.add(store, 'user.password_changed', { ...ofUser(user), details: {} })
    const details = { reason: 'password', count }
    if (count > 0) await audit.add(store, 'session.ended', { ...ofUser(user), details })
    return true
  }

  /**
   * Deactivates or reactivates a user. Tokens and clients of an inactive user are invalid from the next request on.
   * Returns false if the user does not exist.
   * @throws NotOurUsers for users of the application without the option `setActive`
   */
  async setActive(id: UserId, active: boolean): Promise<boolean> {
    const event = active ? 'user.activated' : 'user.deactivated'
    const { setActive, store, audit, intact } = this.#context
    if (intact.hasBuiltInUsers || !setActive) return this.#changed(id, event, { active })
    const user = await this.find(id)
    if (!user) return false
    await setActive(id, active)
    await audit.add(store, event, { ...ofUser(user), details: {} })
    return true
  }

  /**
   * Marks the e-mail address of the user as verified. Returns false if the user does not exist.
   * @throws NotOurUsers for users of the application
   */
  verifyEmail(id: UserId): Promise<boolean> {
    return this.#changed(id, 'user.email_verified', { emailVerified: true })
  }

  /**
   * Changes the e-mail address of the user, with which the user logs in. Returns false if the user does not exist.
   * @throws InvalidField for an invalid or taken e-mail address; NotOurUsers for users of the application
   */
  async setEmail(
    id: UserId,
    email: string,
    options: { readonly emailVerified?: boolean } = {},
  ): Promise<boolean> {
    checkEmailOptions(options)
    const { emailVerified = true } = options
    const outcome = await this.#renamed(id, validEmail(email), emailVerified)
    if (outcome === 'taken') throw taken()
    return outcome
  }

  /**
   * Stores the e-mail address of the user in normal form. Returns false if the address has no normal form, or if another
   * user has it. @internal
   */
  async normalizeEmail({ id, email, emailVerified }: User): Promise<boolean> {
    const key = emailKey(email)
    if (key === email) return true
    return key !== undefined && (await this.#renamed(id, key, emailVerified)) !== 'taken'
  }

  async #renamed(id: UserId, email: string, emailVerified: boolean): Promise<boolean | 'taken'> {
    const { store, audit, intact } = this.#context
    if (!intact.hasBuiltInUsers) throw new NotOurUsers()
    try {
      return await store.transaction(async (tx) => {
        const row = await tx.users.find(id)
        const before = await this.#intact(row)
        if (!row || !before) return false
        if ((await byEmail(email, tx)).some((other) => other.id !== id)) return 'taken'
        const hash = this.#hashOf(row)
        // The hash was tampered with, or sealed with another secret key. A new seal would hide that.
        if (hash === undefined && row.passwordHash !== null) return false
        const user = { ...before, email, emailVerified }
        const passwordHash = hash === undefined ? null : this.#sealedHash(user, hash)
        await tx.users.setEmail({ ...this.#sealed(user), passwordHash })
        const details = { former: before.email }
        await audit.add(tx, 'user.email_changed', { ...ofUser(user), details })
        return true
      })
    } catch (error) {
      if (error instanceof UniqueViolation) return 'taken'
      throw error
    }
  }

  /**
   * Makes a user an administrator, or an ordinary user again. Returns false if the user does not exist.
   * @throws NotOurUsers for users of the application
   */
  setAdmin(id: UserId, isAdmin: boolean): Promise<boolean> {
    return this.#changed(id, isAdmin ? 'user.admin_granted' : 'user.admin_withdrawn', { isAdmin })
  }

  /**
   * Deletes the rows of a user whom the application has deleted, in small batches. The audit log remains. After a
   * failure, the caller must repeat the call.
   */
  async deleted(id: UserId): Promise<void> {
    const { store, audit, endLogins } = this.#context
    await endLogins(id, store)
    while ((await store.userData.deleteSome(id, removedAtOnce)) > 0) await nextTurn()
    await store.sweeperNotes.delete('missing user', [String(id)])
    await noteDeletedUser(id, this.#context)
    await audit.add(store, 'user.deleted', { userId: id, details: {} })
  }

  /**
   * Deletes the user. The user's clients, tokens, consents and sessions are invalid from the next request on, and are
   * removed in the background. Returns false if the user does not exist.
   */
  async delete(id: UserId): Promise<boolean> {
    const { store, audit, clock, removed } = this.#context
    const user = await store.users.find(id)
    const isDeleted = await store.transaction(async (tx) => {
      if (!(await tx.users.delete(id, clock()))) return false
      await audit.add(tx, 'user.deleted', { ...ofUser(user), details: {} })
      return true
    })
    if (isDeleted) await removed({ kind: 'user', key: Number(id) })
    return isDeleted
  }

  async #changed(
    id: UserId,
    event: 'user.activated' | 'user.deactivated' | 'user.email_verified' | AdminEvent,
    marks: Partial<Pick<User, 'active' | 'isAdmin' | 'emailVerified'>>,
  ): Promise<boolean> {
    const { store, audit, intact } = this.#context
    if (!intact.hasBuiltInUsers) throw new NotOurUsers()
    return store.transaction(async (tx) => {
      // Reading in the transaction locks the row. One seal covers all fields, so a concurrent change of another field
      // must wait.
      const before = await this.#intact(await tx.users.find(id))
      if (!before || !(await tx.users.update(this.#sealed({ ...before, ...marks })))) return false
      await audit.add(tx, event, { ...ofUser(before), details: {} })
      return true
    })
  }

  #sealed(user: User): StoredUser {
    return { ...user, seal: this.#context.keys.sealRow(userClaims(user)) }
  }

  // Bind the seal to the user, so that the server rejects a hash that was copied from another user.
  #sealedHash(user: Pick<User, 'id' | 'email'>, hash: string): string {
    return this.#context.keys.seal('row', hash, passwordClaims(user))
  }

  #hashOf(
    user: Pick<UserWithPassword, 'id' | 'email' | 'passwordHash'> | undefined,
  ): string | undefined {
    if (!user?.passwordHash) return undefined
    return this.#context.keys.open('row', user.passwordHash, passwordClaims(user))
  }

  async #intact(row: StoredUser | undefined): Promise<User | undefined> {
    return row && (this.#context.intact.user(row) ?? this.#tampered(row))
  }

  async #tampered({ id, seal }: StoredUser): Promise<undefined> {
    await mustHaveKeyOf(seal, this.#context)
    this.#context.log({
      level: 'error',
      event: 'user.tampered',
      message:
        'A user row was tampered with, or sealed with another secret key; the server refuses the row.',
      userId: id,
    })
    return undefined
  }

  async #tamperedState({ client, user }: TokenWithState): Promise<undefined> {
    const { intact, log } = this.#context
    if (intact.isClient(client)) return user ? this.#tampered(user) : undefined
    await mustHaveKeyOf(client.stateSeal, this.#context)
    log({
      level: 'error',
      event: 'client.tampered',
      message:
        'A client row was tampered with, or sealed with another secret key; the server refuses the row.',
      clientId: client.clientId,
    })
    return undefined
  }

  #byEmail(email: string): Promise<readonly UserWithPassword[]> {
    return byEmail(email, this.#context.store)
  }
}

/** Returns the rows that hold a spelling of an e-mail address, the normal form first. */
const byEmail = async (
  email: string,
  { users }: Pick<Store, 'users'>,
): Promise<readonly UserWithPassword[]> => {
  const rows: UserWithPassword[] = []
  for (const spelling of emailSpellings(email)) {
    const row = await users.findByEmail(spelling)
    if (row && !rows.some(({ id }) => id === row.id)) rows.push(row)
  }
  return rows
}

/**
 * Returns the spellings under which the application may hold an address: those of this server, and the typed text. A
 * name without `@` is the application's own, so it has one spelling.
 */
const heldSpellings = (typed: string): readonly string[] =>
  typed.includes('@') ? [...new Set([...emailSpellings(typed), typed])] : [typed]

/** Asks for one spelling after the other until a user is found. */
const firstFound = async <Found>(
  spellings: readonly string[],
  find: (spelling: string) => Promise<Found | undefined>,
): Promise<Found | undefined> => {
  for (const spelling of spellings) {
    const found = await find(spelling)
    if (found) return found
  }
  return undefined
}

const taken = (): InvalidField => new InvalidField('email', 'This e-mail address is taken.')

const withoutPassword = ({ id, email, emailVerified, active, isAdmin }: User): User => ({
  id,
  email,
  emailVerified,
  active,
  isAdmin,
})
