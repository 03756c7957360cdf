import { earliestRowOf, type User, type UserId } from '../../model/user.ts'
import type { StoredUser } from '../../store/contract/users.ts'
import type { RecordsContext } from '../context.ts'

/**
 * Returns the current user to whom a row belongs; null if the user does not exist. Also returns null for a row that is
 * more than a minute older than the user. This row belongs to a former user with the same ID.
 * @param joined the user that a query joined to the row
 */
export const userOfRow = (
  { userId, createdAt }: { readonly userId: UserId | null; readonly createdAt: number },
  joined: StoredUser | null,
  context: RecordsContext,
): User | null | Promise<User | null> => {
  if (userId === null) return null
  const found = context.users.current(userId, joined, context)
  const own = (user: User | null) => (user && createdAt >= earliestRowOf(user) ? user : null)
  return found instanceof Promise ? found.then(own) : own(found)
}

/**
 * Returns the earliest possible creation time of a row of this user, in milliseconds since the epoch. Returns 0 for
 * built-in users, and if the creation time of the user is unknown.
 */
export const earliestRow = async (userId: UserId, context: RecordsContext): Promise<number> =>
  context.users.areBuiltIn ? 0 : earliestRowOf(await context.users.find(userId, context))
