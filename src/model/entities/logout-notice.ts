import { entity, type RecordOf } from './entity.ts'
import { count, number, text } from './field.ts'

const fields = {
  id: text(),
  clientKey: number(),
  userId: text(),
  /** The claim `sid` of the ID token. */
  sid: text(),
  /** The number of attempts, including the attempt for which the notice was claimed. */
  attempts: count(),
  /** The time of the next attempt, or the end of the claim of the process that is sending the notice. */
  dueAt: number(),
  /** Milliseconds since the epoch. */
  expiresAt: number(),
}

/** The stored notice of a logout. */
export interface StoredNotice extends RecordOf<typeof fields> {}
export const logoutNoticeCodec = entity('oauth2server_logout_notice', fields)
