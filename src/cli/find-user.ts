import type { AuthorizationServer, User, UserId } from '../index.ts'
import type { UserKeyType } from '../model/user-table.ts'
import { CommandError, shown } from './errors.ts'

/** Finds a user by ID or e-mail address. @throws CommandError */
export const findUser = async (
  { users }: Pick<AuthorizationServer, 'users'>,
  idOrEmail: string,
): Promise<User> => {
  const id = idIn(idOrEmail, users.keyType)
  const byId = id === undefined ? undefined : await users.find(id)
  // A text ID can look like an e-mail address.
  const user = byId ?? (idOrEmail.includes('@') ? await users.findByEmail(idOrEmail) : undefined)
  if (!user) throw noSuchUser(idOrEmail)
  return user
}

const idIn = (text: string, keyType: UserKeyType): UserId | undefined => {
  if (keyType === 'integer') {
    if (!/^\d{1,18}$/.test(text)) return undefined
    // Applications read larger keys as text, because a number could not distinguish all of them.
    return Number.isSafeInteger(Number(text)) ? Number(text) : text
  }
  if (keyType === 'uuid') return uuid.test(text) ? text : undefined
  return text === '' ? undefined : text
}

const uuid = /^[\da-f]{8}-?(?:[\da-f]{4}-?){3}[\da-f]{12}$/i

export const noSuchUser = (idOrEmail: string): CommandError =>
  new CommandError(`There is no user ${shown(idOrEmail)}.`)
