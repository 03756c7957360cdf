import { entity, type RecordOf } from './entity.ts'
import { type Field, number, text } from './field.ts'

const fields = {
  kind: text<'client' | 'user'>() as Field<'client' | 'user', 'client' | 'user'>,
  key: number(),
  /**
   * The time of the deletion, in milliseconds since the epoch. For an unused client, the time before
   * which it was created.
   */
  at: number(),
}

/** A deleted client or built-in user. Its rows are already invisible, and will be deleted in batches. */
export interface Removal extends RecordOf<typeof fields> {}
export const removalCodec = entity('oauth2server_removal', fields, { key: ['kind', 'key'] })
