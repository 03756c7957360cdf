import { setImmediate as nextTurn } from 'node:timers/promises'
import { validEmail } from '../../model/email-address.ts'
import { validPassword } from '../../model/field-rules.ts'
import { flag, onlyMembers, orNull, text } from '../../model/members.ts'
import { type User, type UserId, UserProxy, type UserSource } from '../../model/user.ts'
import { userIdIn } from '../../model/user-id.ts'
import type { UserKeyType } from '../../model/user-table.ts'
import type { Cursor, Page } from '../../store/contract/page.ts'
import { ofUser } from '../audit/audit-trail.ts'
import { type RecordsContext, withinTransaction } from '../context.ts'
import { changeUser, insertUser, setPassword, taken, withoutPassword } from './built-in-users.ts'
import { judged, withPassword } from './password-tries.ts'
import { noteDeletedUser } from './reused-ids.ts'

/** The maximum number of rows that one statement deletes after the application has deleted a user. */
const removedAtOnce = 100

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
  find(id: UserId): Promise<User | undefined> {
    return this.#context.users.find(id, this.#context)
  }

  /** The type of the user IDs. */
  get keyType(): UserKeyType {
    return this.#context.users.keyType
  }

  /**
   * Returns the user with this e-mail address in any spelling.
   * @throws NotOurUsers if the application finds users by ID only
   */
  findByEmail(email: string): Promise<User | undefined> {
    return this.#context.users.findByEmail(email, this.#context)
  }

  /**
   * Lists all users in the order of their IDs.
   * @throws NotOurUsers if the application finds its users by callbacks
   */
  async *all(): AsyncGenerator<User> {
    yield* this.#context.users.all(this.#context)
  }

  /** Whether users can be listed and searched by the beginning of their e-mail address. */
  get canSearch(): boolean {
    return this.#context.users.canSearch
  }

  /** Whether this server can deactivate and activate users. */
  get canSetActive(): boolean {
    return this.#context.users.canSetActive
  }

  /**
   * Lists the user whose ID is the text, and then the users whose e-mail address begins with the text, in the order of
   * their IDs. Lists all users for an empty text. If the application finds its users by callbacks and has no callback
   * `search`, finds a user only by ID or by the complete e-mail address. The search by address requires `findByEmail`.
   */
  async search(text: string, { after, limit }: Cursor): Promise<Page<User>> {
    const { users } = this.#context
    const start = after === null ? null : (userIdIn(after, users.keyType) ?? null)
    const id = userIdIn(text, users.keyType)
    const exact = start === null && id !== undefined ? await this.find(id) : undefined
    const page = { after: start, limit: limit + 1 }
    const found = (await users.search(text, page, this.#context)).slice(0, limit + 1)
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
    const fields = { email, active, emailVerified, isAdmin }
    const user = await insertUser(fields, hash, this.#context)
    if (user) return user
    throw taken()
  }

  /**
   * Returns the active user with this e-mail address and password; undefined if the check fails. For built-in users,
   * the time of a failure does not reveal its cause.
   */
  async withPassword(email: string, password: string): Promise<User | undefined> {
    const found = await withPassword(email, password, this.#context.requester(), this.#context)
    return found && withoutPassword(found)
  }

  /**
   * Returns whether the password of a user is correct. The application calls this method. Wrong passwords are counted
   * by user, separately from wrong passwords on the login page.
   * @throws OAuthError 429 with `Retry-After` after too many wrong passwords; NotOurUsers for users of the application
   * without `withPassword`
   */
  async checkPassword(id: UserId, password: string): Promise<boolean> {
    const { limits, users } = this.#context
    const giveBack = await limits.attempt('guessesOfAccount', '', `user ${id}`)
    return judged(giveBack, () => users.isPassword(id, password, this.#context))
  }

  /**
   * Sets the password and deletes the sessions of the user. Personal tokens and authorizations remain valid.
   * @returns false if the user does not exist
   * @throws InvalidField for a password that is too short or too long; NotOurUsers for users of the application
   */
  setPassword(id: UserId, password: string): Promise<boolean> {
    return setPassword(id, password, this.#context)
  }

  /**
   * Deactivates or reactivates a user. Tokens and clients of an inactive user are invalid from the next request on.
   * Returns false if the user does not exist.
   * @throws NotOurUsers for users of the application without the option `setActive`
   */
  setActive(id: UserId, active: boolean): Promise<boolean> {
    return this.#context.users.setActive(id, active, this.#context)
  }

  /**
   * Marks the e-mail address of the user as verified. Returns false if the user does not exist.
   * @throws NotOurUsers for users of the application
   */
  verifyEmail(id: UserId): Promise<boolean> {
    return changeUser(id, 'user.email_verified', { emailVerified: true }, this.#context)
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
    const changes = { email: validEmail(email), emailVerified: options.emailVerified ?? true }
    return changeUser(id, 'user.email_changed', changes, this.#context)
  }

  /**
   * Makes a user an administrator, or an ordinary user again. Returns false if the user does not exist.
   * @throws NotOurUsers for users of the application
   */
  setAdmin(id: UserId, isAdmin: boolean): Promise<boolean> {
    const event = isAdmin ? 'user.admin_granted' : 'user.admin_withdrawn'
    return changeUser(id, event, { isAdmin }, this.#context)
  }

  /**
   * Deletes the rows of a user whom the application has deleted, in small batches. The audit log remains. After a
   * failure, the caller must repeat the call.
   */
  async deleted(id: UserId): Promise<void> {
    const { store, audit, endLogins } = this.#context
    await endLogins(id, store)
    const removed = { kind: 'user', key: id } as const
    while ((await store.removals.removeSome(removed, removedAtOnce)) > 0) await nextTurn()
    await store.sweeperNotes.delete({ kind: 'missing user', key: String(id) })
    await noteDeletedUser(id, this.#context)
    await audit.add(store, 'user.deleted', { userId: id, details: {} })
  }

  /**
   * Deletes the user. The user's clients, tokens, consents and sessions are invalid from the next request on, and are
   * removed in the background. Returns false if the user does not exist.
   */
  async delete(id: UserId): Promise<boolean> {
    const user = await this.#context.store.users.find(id)
    return withinTransaction(this.#context, async ({ store, audit, clock, removed }) => {
      if (!(await store.users.delete(id, clock()))) return false
      await audit.add(store, 'user.deleted', { ...ofUser(user), details: {} })
      await removed({ kind: 'user', key: Number(id) })
      return true
    })
  }
}
