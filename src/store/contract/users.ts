import type { User, UserId } from '../../model/user.ts'

/** A user as the store reads it. */
export interface StoredUser extends User {
  /** Proves that the row is as we wrote it; empty for users of the application, whose table we do not write. */
  readonly seal: string
}

/** A user with the hash of the password, which never leaves the records. */
export interface UserWithPassword extends StoredUser {
  readonly passwordHash: string | null
}

export type NewUser = UserWithPassword & { readonly createdAt: number }

export interface UserStore {
  find(id: UserId): Promise<UserWithPassword | undefined>
  findByEmail(email: string): Promise<UserWithPassword | undefined>
  /**
   * False where the e-mail address is taken.
   * @throws UniqueViolation where the id is
   */
  insert(user: NewUser): Promise<boolean>
  /** Writes what changes of a user, with the seal of the whole row. */
  update(user: Pick<StoredUser, 'id' | 'active' | 'isAdmin' | 'seal'>): Promise<boolean>
  setPassword(id: UserId, passwordHash: string): Promise<boolean>
  /** Deletes the user: whatever belongs to them is absent from then on, and listed to be removed. In a transaction. */
  delete(id: UserId, now: number): Promise<boolean>
}

/** What hangs from users, for users that no foreign key guards. */
export interface UserDataStore {
  /** At most `limit` ids of users that something hangs from, in order, those after `after`. */
  idsInUse(after: UserId | null, limit: number): Promise<readonly UserId[]>
  /**
   * Deletes about `limit` rows that belong to a user: sessions, tokens, authorizations, consents, clients.
   * @returns how many; 0 once nothing is left
   */
  deleteSome(userId: UserId, limit: number): Promise<number>
}
