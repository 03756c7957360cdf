import type { Selectable } from 'kysely'
import type { Sealed } from '../../crypto/sealed.ts'
import type { SecretKeyStore, SigningKeyStore, StoredSigningKey } from '../contract/keys.ts'
import type { Handle } from './handle.ts'
import type { Tables } from './tables.ts'

/** Converts the row of a signing key. */
export const signingKeyFromRow = (
  row: Selectable<Tables['oauth2server_signing_key']>,
): StoredSigningKey => ({
  id: row.id,
  algorithm: row.algorithm,
  publicKey: row.public_key,
  privateKey: row.private_key as Sealed,
  createdAt: row.created_at,
})

export const sqlSigningKeys = ({ read, write }: Handle): SigningKeyStore => ({
  async all() {
    const rows = await read
      .selectFrom('oauth2server_signing_key')
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .execute()
    return rows.map(signingKeyFromRow)
  },

  async insert(key) {
    const row = await write
      .insertInto('oauth2server_signing_key')
      .values({
        id: key.id,
        algorithm: key.algorithm,
        public_key: key.publicKey,
        private_key: key.privateKey,
        created_at: key.createdAt,
      })
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
