import type { SweeperNoteStore } from '../contract/sweeper.ts'
import type { Handle } from './handle.ts'

export const sqlSweeperNotes = ({ read, write }: Handle): SweeperNoteStore => ({
  find(kind, keys) {
    return read
      .selectFrom('oauth2server_sweeper_note')
      .select(['key', 'at'])
      .where('kind', '=', kind)
      .where('key', 'in', keys)
      .execute()
  },

  until(kind, at, limit) {
    return read
      .selectFrom('oauth2server_sweeper_note')
      .select(['key', 'at'])
      .where('kind', '=', kind)
      .where('at', '<=', at)
      .orderBy('at')
      .limit(limit)
      .execute()
  },

  async put(kind, { key, at }) {
    await write
      .insertInto('oauth2server_sweeper_note')
      .values({ kind, key, at })
      .onConflict((c) => c.columns(['kind', 'key']).doUpdateSet({ at }))
      .execute()
  },

  async delete(kind, keys) {
    const { numDeletedRows } = await write
      .deleteFrom('oauth2server_sweeper_note')
      .where('kind', '=', kind)
      .where('key', 'in', keys)
      .executeTakeFirst()
    return Number(numDeletedRows)
  },

  async deleteBefore(kind, at, limit) {
    const old = read
      .selectFrom('oauth2server_sweeper_note')
      .select('key')
      .where('kind', '=', kind)
      .where('at', '<', at)
      .orderBy('at')
      .limit(limit)
    const { numDeletedRows } = await write
      .deleteFrom('oauth2server_sweeper_note')
      .where('kind', '=', kind)
      .where('key', 'in', old)
      .executeTakeFirst()
    return Number(numDeletedRows)
  },
})
