import { entity, type RecordOf } from './entity.ts'
import { number, text } from './field.ts'

const fields = {
  /** The ID of the key, which is part of each seal. */
  id: text(),
  /** Milliseconds since the epoch. */
  createdAt: number(),
}

/** The ID of a secret key under which rows are sealed. */
export interface SecretKey extends RecordOf<typeof fields> {}
export const secretKeyCodec = entity('oauth2server_secret_key', fields)
