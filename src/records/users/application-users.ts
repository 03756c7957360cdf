import { emailPrefixes, emailSpellings, heldEmail } from '../../model/email-address.ts'
import type { User } from '../../model/user.ts'
import { withStorableId } from '../../model/user-id.ts'
import type { UserCallbacks, UserTable } from '../../model/user-table.ts'
import { NotOurUsers } from '../../store/contract/errors.ts'
import { ofUser } from '../audit/audit-trail.ts'
import type { UserLookUps, UsersPort } from '../context.ts'
import { withoutSeal } from '../seals/intact-state.ts'
import { usersInStore } from './built-in-users.ts'

/** The users in a table of the application, in the database of the store. Their rows have no seal. */
export const tableUsers = (table: UserTable): UsersPort => {
  const lookUps = usersInStore(withoutSeal)
  return { ...lookUps, ...managedBy(table, lookUps.find) }
}

/**
 * The users behind the callbacks of the application.
 * @param warn called if a new user may receive the ID of a deleted user
 */
export const callbackUsers = (users: UserCallbacks, warn: () => void): UsersPort => {
  let isSettled = users.keyType === 'uuid'
  const found = async (id: User['id']): Promise<User | undefined> => {
    const user = checkedUser('find', await users.find(id))
    if (user && !isSettled) {
      isSettled = true
      if (user.createdAt === undefined) warn()
    }
    return user
  }
  const find: UsersPort['find'] = async (id) => withStorableId(await found(id))
  const findByEmail: UsersPort['findByEmail'] = async (email) => {
    if (!users.findByEmail)
      throw new NotOurUsers(
        'The application finds its users by ID only: pass an ID, or add findByEmail to the option users.',
      )
    return firstFound(heldSpellings(email), async (spelling) =>
      checkedUser('findByEmail', await users.findByEmail?.(spelling)),
    )
  }
  return {
    areInStore: false,
    canFindByEmail: users.findByEmail !== undefined,
    canSearch: users.search !== undefined,
    find,
    current: async (id) => (await found(id)) ?? null,
    findByEmail,
    all() {
      throw new NotOurUsers(
        'The application finds its users by callbacks, so only the application can list all users.',
      )
    },
    async search(text, { after, limit }, context) {
      if (users.search) {
        // The application may hold the address in another spelling than the administrator typed.
        for (const typed of after === null ? new Set([text, ...emailPrefixes(text)]) : [text]) {
          const listed = await users.search(typed, { after, limit })
          if (listed.length > 0) return listed.map((user) => checkedUser('search', user))
        }
        return []
      }
      const isEmail = text.includes('@') && users.findByEmail && after === null
      const user = isEmail ? await findByEmail(text, context) : undefined
      return user ? [user] : []
    },
    ...managedBy(users, find),
  }
}

/** The part of users whose passwords and states the application manages. */
const managedBy = (
  users: Partial<Pick<UserTable, 'keyType' | 'withPassword' | 'setActive'>>,
  find: UsersPort['find'],
): Omit<UsersPort, keyof UserLookUps> => ({
  keyType: users.keyType ?? 'integer',
  areBuiltIn: false,
  canSetActive: users.setActive !== undefined,
  async checked(email, password, _requester, context) {
    const found = await firstFound(heldSpellings(email), async (spelling) =>
      users.withPassword?.(spelling, password),
    )
    const user = found && (await find(found.id, context))
    return user?.active ? { checked: { ...user, passwordHash: null } } : { refused: user }
  },
  async isPassword(id, password, context) {
    if (!users.withPassword)
      throw new NotOurUsers(
        'The application checks the passwords of its users: add withPassword to the option users.',
      )
    const user = await find(id, context)
    const found =
      user &&
      (await firstFound(heldSpellings(user.email), async (spelling) =>
        users.withPassword?.(spelling, password),
      ))
    return found?.id === id
  },
  passwordMark: async (id, context) => ((await find(id, context))?.active ? '' : undefined),
  async setActive(id, active, context) {
    if (!users.setActive) throw new NotOurUsers()
    const user = await find(id, context)
    if (!user) return false
    await users.setActive(id, active)
    const event = active ? 'user.activated' : 'user.deactivated'
    await context.audit.add(context.store, event, { ...ofUser(user), details: {} })
    return true
  },
})

/**
 * Returns the user of the application with the e-mail address that this server reports.
 * @throws TypeError for a user without `active`: the server would treat the user as deactivated, without a word
 */
const checkedUser = <Found extends User | undefined>(callback: string, user: Found): Found => {
  if (user && typeof user.active !== 'boolean')
    throw new TypeError(
      `users.${callback} must return users with the property active, which is true or false. A user for whom it is false cannot log in.`,
    )
  if (!user?.email) return user
  const email = heldEmail(user.email)
  if (email === user.email) return user
  // A record may be an object of a class, whose methods must still find its members.
  return new Proxy(user, {
    get: (target, name) => {
      const value: unknown = name === 'email' ? email : Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
    getOwnPropertyDescriptor: (target, name) => {
      const own = Reflect.getOwnPropertyDescriptor(target, name)
      return own && name === 'email' ? { ...own, value: email } : own
    },
  })
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
