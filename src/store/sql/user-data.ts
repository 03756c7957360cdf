import { sql } from 'kysely'
import type { UserId } from '../../model/user.ts'
import type { UserDataStore } from '../contract/users.ts'
import type { Handle } from './handle.ts'
import { removalTarget, removeOfUser } from './removals.ts'

const tables = ['consent', 'client', 'authorization', 'token', 'session'] as const

export const sqlUserData = (handle: Handle): UserDataStore => ({
  async idsInUse(after, limit) {
    const parts = tables.map((name) => {
      const from = sql.table(`oauth2server_${name}`)
      const hasLaterUser = after === null ? sql`user_id is not null` : sql`user_id > ${after}`
      // Every part has a limit, so that no table is scanned completely.
      return sql`select * from (select distinct user_id as id from ${from} where ${hasLaterUser} order by user_id limit ${limit}) as ${sql.ref(name)}`
    })
    const { rows } = await sql<{
      id: UserId
    }>`${sql.join(parts, sql` union `)} order by id limit ${limit}`.execute(handle.read)
    return rows.map(({ id }) => id)
  },

  deleteSome: (userId, limit, before = null) =>
    removeOfUser(removalTarget(handle), { userId, before }, limit),

  async hasOlder(userId, before) {
    const parts = tables.map((name) => {
      const createdAt = sql.ref(name === 'consent' ? 'granted_at' : 'created_at')
      return sql`exists (select 1 from ${sql.table(`oauth2server_${name}`)} where user_id = ${userId} and ${createdAt} < ${before})`
    })
    const { rows } = await sql<{
      older: number
    }>`select case when ${sql.join(parts, sql` or `)} then 1 else 0 end as older`.execute(
      handle.read,
    )
    return rows[0]?.older === 1
  },
})
