import {
  type Accepted,
  accepted,
  callback,
  flag,
  listOf,
  object,
  objectOf,
  oneOf,
  onlyMembers,
  required,
  text,
} from './members.ts'
import type { User, UserId } from './user.ts'

/**
 * The type of the user table's key. The `user_id` columns of tokens, authorizations, consents and sessions have this
 * type.
 */
export type UserKeyType = 'integer' | 'text' | 'uuid'

/** The names of the columns in a user table of the application, and further options of this table. */
export interface UserTableColumns {
  readonly id: string
  readonly email: string
  /** A column that is false or 0 for inactive users. Without this column, every user is active. */
  readonly active?: string
  /** A column that is true or 1 if the e-mail address is verified. Without this column, no address is verified. */
  readonly emailVerified?: string
  /** A column that is true or 1 for administrators. Without this column, no user is an administrator. */
  readonly isAdmin?: string
  /**
   * The column with the time at which the user was created, in UTC. The server refuses tokens, clients, consents and
   * sessions that are more than a minute older than the user. These rows belong to a deleted user with the same ID.
   * PostgreSQL: a timestamp or a date. SQLite: seconds or milliseconds since the epoch, or text such as
   * `2026-11-23T20:00:00Z`.
   */
  readonly createdAt?: string
  /**
   * Further columns that the server reads, such as `['display_name']`. A user that the server returns has a property
   * with the name of each column.
   */
  readonly attributes?: readonly string[]
  /** Default `integer`. */
  readonly keyType?: UserKeyType
  /**
   * Whether the tables of the server have cascading foreign keys to the user table. By default, the migration that
   * creates the tables of the server adds these keys if the database permits them. Foreign keys require that the user
   * table is not a view, and that its key is unique. In SQLite, foreign keys require that the user table is in the main
   * database. In PostgreSQL, foreign keys require that the account of the server has the privileges `REFERENCES` and
   * `UPDATE` on the user table. Set this option to false if the application rebuilds the user table in SQLite with
   * foreign keys enabled. Otherwise, dropping the old table would delete the rows of all users, such as their tokens
   * and sessions.
   */
  readonly foreignKeys?: boolean
  readonly withPassword?: FindByPassword
  readonly setActive?: SetActive
}

/** A user table that the application owns, in the database of the store. */
export interface UserTable {
  readonly name: string
  readonly columns: Required<Pick<UserTableColumns, 'id' | 'email'>> &
    Readonly<Record<'active' | 'emailVerified' | 'isAdmin' | 'createdAt', string | null>>
  readonly attributes: readonly string[]
  readonly keyType: UserKeyType
  /** Undefined: foreign keys are created if the database permits them. */
  readonly foreignKeys: boolean | undefined
  readonly withPassword: FindByPassword | undefined
  readonly setActive: SetActive | undefined
}

/**
 * Callbacks for users outside of the database. The server calls `find` for every request that concerns a user, such as
 * a request with the user's access token. A deactivation therefore takes effect immediately.
 */
export interface UserCallbacks {
  /** Default `integer`. */
  readonly keyType?: UserKeyType
  /** Returns the user with this ID; undefined for an unknown or deleted user. */
  find(id: UserId): Promise<User | undefined>
  /** Returns the user with this e-mail address. Required to name a user by e-mail address on the command line. */
  findByEmail?(email: string): Promise<User | undefined>
  /**
   * Lists at most `limit` users in the order of their IDs, beginning after the ID `after`: the users whose e-mail
   * address begins with the text, or all users for an empty text. The pages call this function when administrators
   * search users.
   */
  search?(
    text: string,
    page: { readonly after: UserId | null; readonly limit: number },
  ): Promise<readonly User[]>
  readonly withPassword?: FindByPassword
  readonly setActive?: SetActive
}

/**
 * Returns the user with this e-mail address and password; undefined for an unknown user or a wrong password. The
 * built-in login, the `password` grant and `checkPassword` call this function. Without this function, the application
 * needs its own login (`resourceOwner`).
 */
export type FindByPassword = (
  email: string,
  password: string,
) => Promise<{ readonly id: UserId } | undefined>

/**
 * Deactivates or activates a user of the application. `server.users.setActive`, the pages of administrators and the
 * command line call this function.
 */
export type SetActive = (id: UserId, active: boolean) => Promise<void>

/** The location of the users: the built-in table, a table of the application, or its callbacks (`elsewhere`). */
export type UsersLocation = UserTable | 'built-in' | 'elsewhere'

/** Returns the location of the users that the option `users` configures. */
export const locationOf = (users: UserTable | UserCallbacks | undefined): UsersLocation => {
  if (!users) return 'built-in'
  return 'name' in users ? users : 'elsewhere'
}

const column = accepted(
  'the name of a column',
  (value) => typeof value === 'string' && value !== '',
)
const keyType = oneOf('integer', 'text', 'uuid')
const byApplication = { keyType, withPassword: callback, setActive: callback }

const checkColumns = onlyMembers<UserTableColumns>('table()', {
  id: required(column),
  email: required(column),
  active: column,
  emailVerified: column,
  isAdmin: column,
  createdAt: column,
  attributes: listOf(column),
  foreignKeys: flag,
  ...byApplication,
})

const callbacks = objectOf<UserCallbacks>({
  find: required(
    accepted(
      'a function, or users must be the result of table()',
      (value) => typeof value === 'function',
    ),
  ),
  findByEmail: callback,
  search: callback,
  ...byApplication,
})
const tableOfUsers = objectOf<UserTable>({
  name: required(text),
  columns: required(object),
  attributes: required(listOf(column)),
  foreignKeys: flag,
  ...byApplication,
})

/** For the option `users`. */
export const usersOption: Accepted = {
  problems: (name, value) =>
    (typeof value === 'object' && value !== null && 'name' in value
      ? tableOfUsers
      : callbacks
    ).problems(name, value),
}

/**
 * Maps the application's own table of users, for the option `users`.
 * @throws TypeError for a missing column, an unknown option, or a column name that is not a text
 */
export const table = (name: string, columns: UserTableColumns): UserTable => {
  const [problem] = column.problems('table(): the name', name)
  if (problem !== undefined) throw new TypeError(problem)
  checkColumns(columns ?? {})
  return mapped(name, columns)
}

const mapped = (name: string, columns: UserTableColumns): UserTable => ({
  name,
  columns: {
    id: columns.id,
    email: columns.email,
    active: columns.active ?? null,
    emailVerified: columns.emailVerified ?? null,
    isAdmin: columns.isAdmin ?? null,
    createdAt: columns.createdAt ?? null,
  },
  attributes: columns.attributes ?? [],
  keyType: columns.keyType ?? 'integer',
  foreignKeys: columns.foreignKeys,
  withPassword: columns.withPassword,
  setActive: columns.setActive,
})
