import { reuseMargin, type UserId } from '../../model/user.ts'
import type { RecordsContext } from '../context.ts'

type Needed = Pick<RecordsContext, 'store' | 'settings' | 'users'>

/**
 * Returns the time since when an ID belongs to its user if a former user had the same ID, so that clients with public
 * subjects do not take the new user for the former user. Returns null for the first user who has the ID, and if the
 * application reports neither creation times nor deletions of users. Notes the first user.
 * @param earliest the result of `earliestRow`
 */
export const reusedSince = async (
  userId: UserId,
  earliest: number,
  { store, settings, users }: Needed,
): Promise<number | null> => {
  if (!settings.openidConnect || users.areBuiltIn) return null
  const key = String(userId)
  const [note] = await store.sweeperNotes.select({ kind: 'subject', key })
  if (earliest <= 0) return note?.at ?? null
  const createdAt = earliest + reuseMargin
  if (!note) await store.sweeperNotes.put({ kind: 'subject', key, at: createdAt })
  return note && createdAt > note.at + reuseMargin ? createdAt : null
}

/** Notes that the application has deleted a user, so that a later user with the same ID has other subjects. */
export const noteDeletedUser = async (
  userId: UserId,
  { store, settings, users, clock }: Needed & Pick<RecordsContext, 'clock'>,
): Promise<void> => {
  if (!settings.openidConnect || users.areBuiltIn) return
  await store.sweeperNotes.put({ kind: 'subject', key: String(userId), at: clock() - reuseMargin })
}
