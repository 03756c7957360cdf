import { entity, type RecordOf } from './entity.ts'
import { nullable, number, text } from './field.ts'

const fields = {
  clientKey: number(),
  digest: nullable(text()),
  /** In base64. */
  image: nullable(text()),
  /** The time at which a fetch was requested or last started; null if no fetch is pending. */
  requestedAt: nullable(number()),
  /** The reason why the last fetch failed; null if the fetch did not fail. */
  problem: nullable(text()),
}

/** The logo of a verified client. Without a fetch that has succeeded, the image is null. */
export interface StoredClientLogo extends RecordOf<typeof fields> {}
export const clientLogoCodec = entity('oauth2server_client_logo', fields, { key: ['client_key'] })
