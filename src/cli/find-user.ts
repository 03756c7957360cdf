import type { AuthorizationServer, User } from '../index.ts'
import { CommandError, shown } from './errors.ts'

/** Finds a user by ID or e-mail address. @throws CommandError */
export const findUser = async (
  { users }: Pick<AuthorizationServer, 'users'>,
  idOrEmail: string,
): Promise<User> => {
  const isId = /^\d{1,15}$/.test(idOrEmail)
  const user = await (isId ? users.find(Number(idOrEmail)) : users.findByEmail(idOrEmail))
  if (!user) throw noSuchUser(idOrEmail)
  return user
}

export const noSuchUser = (idOrEmail: string): CommandError =>
  new CommandError(`There is no user ${shown(idOrEmail)}.`)
