import type { User, UserId } from '../../model/user.ts'
import type { Reads, Removable, Rows } from './rows.ts'

/** A user with the seal of the row. */
export interface StoredUser extends User {
  /** The attributes of a user in a table of the application. The keys are column names. */
  readonly attributes?: Readonly<Record<string, unknown>>
  /** The seal of the row; empty for users in a table of the application, which the server does not write. */
  readonly seal: string
}

/** A user with the hash of the password. */
export interface UserWithPassword extends StoredUser {
  readonly passwordHash: string | null
}

export type NewUser = UserWithPassword & { readonly createdAt: number }

/** Selects users; without a condition, all users. */
export interface UserFilter {
  /** The e-mail address begins with one of these texts in lower case. The case of the address is ignored. */
  readonly beginnings?: readonly string[]
  /** Whether the e-mail address may not be in normal form. */
  readonly isIrregular?: boolean
}

/** The value by which users are found. */
export type UserConditions = Pick<UserWithPassword, 'email'>

/** The values by which a user is changed. */
export type UserChanges = Omit<UserWithPassword, 'attributes'>

/**
 * `find` finds a user by the ID or the e-mail address. Inside a transaction, it locks the row of the ID. `insert` returns
 * false if the e-mail address is taken, and throws `UniqueViolation` if the ID is taken. `update` throws
 * `UniqueViolation` if another user has the e-mail address.
 */
export interface UserStore
  extends Pick<Reads<UserWithPassword, UserConditions, UserId>, 'find'>,
    Pick<Rows<NewUser, UserChanges>, 'insert' | 'update'>,
    Removable<UserId> {
  /** Lists at most `limit` users after the ID `after`, in the order of their IDs. */
  list(where: UserFilter, after: UserId | null, limit: number): Promise<readonly UserWithPassword[]>
}
