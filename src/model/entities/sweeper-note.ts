import { entity, type RecordOf } from './entity.ts'
import { type Field, number, text } from './field.ts'

/**
 * The kind of a time that the sweeper stores: when a user was first missing, or when the last sweep took place. A note
 * of the kind `email addresses` says that built-in users may have e-mail addresses that are not in normal form. A note of
 * the kind `deleted token` is the right to restore a deleted personal token: only the caller that deletes it may do so.
 * A note of the kind `restored token` replaces it, so that a search that missed the deleted token finds one of the notes.
 * A note of the kind `leaked token` takes this right away, also from a later deletion of the token.
 * A note of the kind `subject` is the creation time of the first user with an ID, or the time of a deletion of that user.
 */
export type SweeperNoteKind =
  | 'missing user'
  | 'last sweep'
  | 'email addresses'
  | 'deleted token'
  | 'restored token'
  | 'leaked token'
  | 'subject'

const fields = {
  kind: text<SweeperNoteKind>() as Field<SweeperNoteKind, SweeperNoteKind>,
  key: text(),
  /** Milliseconds since the epoch. */
  at: number(),
}

/** A time that the sweeper stores for its next run. */
export interface SweeperNote extends RecordOf<typeof fields> {}
export const sweeperNoteCodec = entity('oauth2server_sweeper_note', fields, {
  key: ['kind', 'key'],
})
