import { emailKey } from '../../model/email-address.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import type { User } from '../../model/user.ts'
import type { RecordsContext } from '../context.ts'
import { changeUser, userRows } from './built-in-users.ts'

/**
 * Stores the e-mail addresses of built-in users in normal form, if a migration noted other addresses. Leaves an address
 * unchanged, and logs a warning at each start, if it has no normal form or if another user has the normal form. Such a
 * user can still log in with the stored address.
 */
export const normalizeEmails = async (context: RecordsContext): Promise<void> => {
  const { store, users, log } = context
  if (!users.areBuiltIn) return
  const kind = 'email addresses'
  const [note] = await store.sweeperNotes.select({ kind })
  if (!note) return
  let kept = 0
  for await (const user of userRows({ isIrregular: true }, context)) {
    if (await isNormal(user, context)) continue
    kept += 1
    log({
      level: 'warn',
      event: 'user.email_kept',
      message: `The e-mail address of the user ${user.id} contains invisible characters, or another user has the same address in another spelling. The address remains unchanged. To change it: svc-oauth2server users set-email --user ${user.id} --email ADDRESS`,
      userId: user.id,
    })
  }
  if (kept === 0) await store.sweeperNotes.delete({ kind })
}

/** Stores the address in normal form. Returns false if it has no normal form, or if another user has this address. */
const isNormal = async ({ id, email: stored }: User, context: RecordsContext): Promise<boolean> => {
  const email = emailKey(stored)
  if (email === undefined || email === stored) return email === stored
  try {
    await changeUser(id, 'user.email_changed', { email }, context)
    return true
  } catch (error) {
    if (error instanceof InvalidField) return false
    throw error
  }
}
