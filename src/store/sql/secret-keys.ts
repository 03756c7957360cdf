import type { SecretKeyStore } from '../contract/keys.ts'
import type { Handle } from './handle.ts'

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
