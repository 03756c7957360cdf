import { signingKeyCodec } from '../../model/entities/signing-key.ts'
import type { SecretKeyStore, SigningKeyStore } from '../contract/keys.ts'
import type { Handle } from './handle.ts'

export const sqlSigningKeys = ({ read, write }: Handle): SigningKeyStore => ({
  async all() {
    const rows = await read
      .selectFrom('oauth2server_signing_key')
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .execute()
    return rows.map(signingKeyCodec.fromRow)
  },

  async insert(key) {
    const row = await write
      .insertInto('oauth2server_signing_key')
      .values(signingKeyCodec.toRow(key))
      .onConflict((c) => c.doNothing())
      .returning('id')
      .executeTakeFirst()
    return row !== undefined
  },

  async delete(id) {
    await write.deleteFrom('oauth2server_signing_key').where('id', '=', id).execute()
  },
})

export const sqlSecretKeys = ({ read, write }: Handle): SecretKeyStore => ({
  async ids() {
    const rows = await read.selectFrom('oauth2server_secret_key').select('id').execute()
    return rows.map(({ id }) => id)
  },

  async add(id, now) {
    await write
      .insertInto('oauth2server_secret_key')
      .values({ id, created_at: now })
      .onConflict((c) => c.doNothing())
      .execute()
  },

  async delete(id) {
    await write.deleteFrom('oauth2server_secret_key').where('id', '=', id).execute()
  },
})
