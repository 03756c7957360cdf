import type { AuthorizationServer, User } from '../index.ts'
import { userIdIn } from '../model/user-id.ts'
import { CommandError, shown } from './errors.ts'

/** Finds a user by ID or e-mail address. @throws CommandError */
export const findUser = async (
  { users }: Pick<AuthorizationServer, 'users'>,
  idOrEmail: string,
): Promise<User> => {
  // Look up the ID first, because a text ID can look like an e-mail address.
  const id = userIdIn(idOrEmail, users.keyType)
  const byId = id === undefined ? undefined : await users.find(id)
  const user = byId ?? (idOrEmail.includes('@') ? await users.findByEmail(idOrEmail) : undefined)
  if (!user) throw noSuchUser(idOrEmail)
  return user
}

export const noSuchUser = (idOrEmail: string): CommandError =>
  new CommandError(`There is no user ${shown(idOrEmail)}.`)
