import { type Digest, sha256 } from '../../crypto/digest.ts'
import { randomNumber } from '../../crypto/random.ts'
import { rowsInBatches } from '../../model/batches.ts'
import { emailPrefixes, emailSpellings } from '../../model/email-address.ts'
import { passwordClaims, userClaims } from '../../model/entities/user.ts'
import { validPassword } from '../../model/field-rules.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import type { User, UserId } from '../../model/user.ts'
import { withStorableId } from '../../model/user-id.ts'
import { NotOurUsers, UniqueViolation } from '../../store/contract/errors.ts'
import type { StoredUser, UserStore, UserWithPassword } from '../../store/contract/users.ts'
import type { Store } from '../../store/store.ts'
import { type byUser, ofUser } from '../audit/audit-trail.ts'
import {
  type CheckedUser,
  type RecordsContext,
  retryOnCollision,
  type UserLookUps,
  type UsersPort,
  withinTransaction,
} from '../context.ts'
import { refusedRow } from '../seals/refused-row.ts'

/** The maximum number of users that one statement lists. */
const listedAtOnce = 500

type UserChange =
  | 'user.activated'
  | 'user.deactivated'
  | 'user.email_verified'
  | 'user.email_changed'
  | 'user.admin_granted'
  | 'user.admin_withdrawn'

/** Returns the user of a row; undefined if the row was tampered with. */
type OpenRow = (
  row: StoredUser,
  context: RecordsContext,
) => User | undefined | Promise<User | undefined>

/** Yields the rows of all users that match, in the order of their IDs. */
export const userRows = (where: Parameters<UserStore['list']>[0], { store }: RecordsContext) =>
  rowsInBatches(listedAtOnce, (last: StoredUser | undefined) =>
    store.users.list(where, last?.id ?? null, listedAtOnce),
  )

/** The look-ups of users whom a statement of the store can read. */
export const usersInStore = (open: OpenRow): UserLookUps => ({
  areInStore: true,
  canFindByEmail: true,
  canSearch: true,
  async find(id, context) {
    const row = await context.store.users.find(id)
    return row && withStorableId(await open(row, context))
  },
  current(_id, joined, context) {
    if (joined === null) return null
    const user = open(joined, context)
    return user instanceof Promise ? user.then((found) => found ?? null) : (user ?? null)
  },
  async findByEmail(email, context) {
    const [row] = await rowsWithEmail(email, context.store)
    return row && open(row, context)
  },
  async *all(context) {
    for await (const row of userRows({}, context)) {
      const user = await open(row, context)
      if (user) yield withoutPassword(user)
    }
  },
  async search(text, { after, limit }, context) {
    const where = text === '' ? {} : { beginnings: emailPrefixes(text) }
    const rows = await context.store.users.list(where, after, limit)
    const found = await Promise.all(rows.map((row) => open(row, context)))
    return found.filter((user) => user !== undefined)
  },
})

const openSealed = (row: StoredUser, context: RecordsContext): User | Promise<undefined> =>
  context.intact.user(row) ?? refusedRow('user', row.seal, { userId: row.id }, context)

const intact = async <Row extends StoredUser>(
  row: Row | undefined,
  context: RecordsContext,
): Promise<Row | undefined> => row && (await openSealed(row, context)) && row

/** The built-in users. A row that was tampered with is treated like a missing row. */
export const builtInUsers: UsersPort = {
  ...usersInStore(openSealed),
  keyType: 'integer',
  areBuiltIn: true,
  canSetActive: true,
  async checked(email, password, requester, context) {
    // Several rows hold spellings of one address only if an earlier version created them. The password decides.
    const [first, ...others] = await rowsWithEmail(email, context.store)
    for (const row of [first, ...others]) {
      const found = await intact(row, context)
      const matches = await context.passwords.check(password, hashOf(found, context), requester)
      if (found?.active && matches) return { checked: found }
    }
    return { refused: await intact(first, context) }
  },
  async isPassword(id, password, context) {
    const user = await intact(await context.store.users.find(id), context)
    return context.passwords.check(password, hashOf(user, context))
  },
  async passwordMark(id, context) {
    const user = await intact(await context.store.users.find(id), context)
    return user?.active ? passwordMarkOf(user, context) : undefined
  },
  setActive: (id, active, context) =>
    changeUser(id, active ? 'user.activated' : 'user.deactivated', { active }, context),
}

/**
 * Inserts a user with this password hash, or without a password. Returns undefined if the e-mail address is taken.
 * @throws NotOurUsers for users of the application
 */
export const insertUser = async (
  fields: Omit<User, 'id'>,
  hash: string | null,
  context: RecordsContext,
  by?: typeof byUser,
): Promise<User | undefined> => {
  mustBeBuiltIn(context)
  const { store, clock, audit, random } = context
  const { user } = await retryOnCollision(async () => {
    const user = { id: randomNumber(random), ...fields }
    const passwordHash = hash === null ? null : sealedHash(user, hash, context)
    return store.transaction(async (tx) => {
      const row = { ...sealed(user, context), passwordHash, createdAt: clock() }
      // A row of an earlier version may hold the address in another spelling.
      const others = (await rowsWithEmail(user.email, tx)).length
      if (others > 0 || !(await tx.users.insert(row))) return { user: undefined }
      const actor = by && { by: by(user) }
      await audit.add(tx, 'user.created', { ...ofUser(user), ...actor, details: {} })
      return { user }
    })
  })
  return user
}

/** Returns a value that changes with the password of the user; empty if the application manages the passwords. */
export const passwordMarkOf = (user: CheckedUser, context: RecordsContext): string => {
  const hash = hashOf(user, context)
  return hash === undefined ? '' : sha256(hash)
}

/** Returns the built-in user with this e-mail address, and the value of `passwordMarkOf`. */
export const userWithMark = async (
  email: string,
  context: RecordsContext,
): Promise<(User & { readonly mark: string }) | undefined> => {
  const [row] = await rowsWithEmail(email, context.store)
  const user = await intact(row, context)
  return user && { ...withoutPassword(user), mark: passwordMarkOf(user, context) }
}

/** Returns whether the user still has this password hash. Ignores a change of the hash's seal. */
export const hasStill = async (
  id: UserId,
  passwordHash: string,
  context: RecordsContext,
): Promise<boolean> => {
  const user = await intact(await context.store.users.find(id), context)
  return user !== undefined && hasHash(user, passwordHash, context)
}

const hasHash = (
  user: UserWithPassword,
  passwordHash: string,
  context: RecordsContext,
): boolean => {
  if (user.passwordHash === passwordHash) return true
  const checked = hashOf({ ...user, passwordHash }, context)
  return checked !== undefined && checked === hashOf(user, context)
}

/**
 * Sets the password of a user who proved the control of the e-mail address. Deletes all sessions of the user.
 * @param mark the value of `passwordMarkOf` when the proof was requested
 * @param hash the hash of the new password
 * @returns false if the user was deactivated or deleted, or received another password
 */
export const resetPassword = (
  id: UserId,
  mark: string,
  hash: string,
  context: RecordsContext,
): Promise<boolean> =>
  withinTransaction(context, async (tx) => {
    // Reading in the transaction locks the row, so that only one of two concurrent resets finds this mark.
    const user = await intact(await tx.store.users.find(id), tx)
    if (!user?.active || passwordMarkOf(user, tx) !== mark) return false
    await writePassword(user, hash, tx)
    return user.emailVerified || changeUser(id, 'user.email_verified', { emailVerified: true }, tx)
  })

/**
 * Sets the password and deletes the sessions of the user.
 * @param kept the verified former password hash, and a session that remains. The password is then set only if the user
 * still has the former password
 * @throws InvalidField for a password that is too short or too long; NotOurUsers for users of the application
 */
export const setPassword = async (
  id: UserId,
  password: string,
  context: RecordsContext,
  kept?: { readonly passwordHash: string | null; readonly session: Digest },
): Promise<boolean> => {
  mustBeBuiltIn(context)
  const { passwords, requester } = context
  const hash = await passwords.hash(validPassword(password), requester())
  return withinTransaction(context, async (tx) => {
    const user = await intact(await tx.store.users.find(id), tx)
    if (!user || (kept?.passwordHash && !hasHash(user, kept.passwordHash, tx))) return false
    await writePassword(user, hash, tx, kept?.session)
    return true
  })
}

const writePassword = async (
  user: User,
  hash: string,
  context: RecordsContext,
  keptSession?: Digest,
): Promise<void> => {
  const { store, audit } = context
  // Reading the user has waited for concurrent logins, so their sessions are also deleted.
  await store.users.update({ id: user.id }, { passwordHash: sealedHash(user, hash, context) })
  const count = await store.sessions.delete({
    userId: user.id,
    ...(keptSession && { id: { not: keptSession } }),
  })
  await audit.add(store, 'user.password_changed', { ...ofUser(user), details: {} })
  const details = { reason: 'password', count }
  if (count > 0) await audit.add(store, 'session.ended', { ...ofUser(user), details })
}

/**
 * Changes a built-in user, with the e-mail address in normal form. Returns false if the user does not exist.
 * @throws InvalidField for a taken e-mail address; NotOurUsers for users of the application
 */
export const changeUser = async (
  id: UserId,
  event: UserChange,
  changes: Partial<Pick<User, 'active' | 'email' | 'emailVerified' | 'isAdmin'>>,
  context: RecordsContext,
): Promise<boolean> => {
  mustBeBuiltIn(context)
  const { store, audit } = context
  const isChanged = store.transaction(async (tx) => {
    // Reading in the transaction locks the row. One seal covers all fields, so a concurrent change of another field
    // must wait.
    const row = await tx.users.find(id)
    const before = row && (await openSealed(row, context))
    if (!before) return false
    const user = { ...before, ...changes }
    const { seal } = sealed(user, context)
    const { email } = changes
    const sameEmail = email === undefined ? [] : await rowsWithEmail(email, tx)
    if (sameEmail.some((other) => other.id !== id)) throw taken()
    // The seal of the hash covers the e-mail address.
    const hash = email === undefined ? undefined : hashOf(row, context)
    // The hash was tampered with, or sealed with another secret key. A new seal would hide that.
    if (email !== undefined && hash === undefined && row.passwordHash !== null) return false
    const passwordHash = hash && { passwordHash: sealedHash(user, hash, context) }
    if (!(await tx.users.update({ id }, { ...changes, ...passwordHash, seal }))) return false
    const details = email === undefined ? {} : { former: before.email }
    await audit.add(tx, event, { ...ofUser(user), details })
    return true
  })
  return isChanged.catch((error) => {
    throw error instanceof UniqueViolation ? taken() : error
  })
}

const mustBeBuiltIn = ({ users }: RecordsContext): void => {
  if (!users.areBuiltIn) throw new NotOurUsers()
}

const sealed = (user: User, { keys }: RecordsContext): StoredUser => ({
  ...user,
  seal: keys.sealRow(userClaims(user)),
})

// Bind the seal to the user, so that the server rejects a hash that was copied from another user.
const sealedHash = (
  user: Pick<User, 'id' | 'email'>,
  hash: string,
  { keys }: RecordsContext,
): string => keys.seal('row', hash, passwordClaims(user))

const hashOf = (
  user: Pick<UserWithPassword, 'id' | 'email' | 'passwordHash'> | undefined,
  { keys }: RecordsContext,
): string | undefined =>
  user?.passwordHash ? keys.open('row', user.passwordHash, passwordClaims(user)) : undefined

/** Returns the rows that hold a spelling of an e-mail address, the normal form first. */
const rowsWithEmail = async (
  email: string,
  { users }: Pick<Store, 'users'>,
): Promise<readonly UserWithPassword[]> => {
  const rows: UserWithPassword[] = []
  for (const spelling of emailSpellings(email)) {
    const row = await users.find({ email: spelling })
    if (row && !rows.some(({ id }) => id === row.id)) rows.push(row)
  }
  return rows
}

export const taken = (): InvalidField => new InvalidField('email', 'This e-mail address is taken.')

/** Returns the five fields of a user, without the password and the attributes of the application. */
export const withoutPassword = ({ id, email, emailVerified, active, isAdmin }: User): User => ({
  id,
  email,
  emailVerified,
  active,
  isAdmin,
})
