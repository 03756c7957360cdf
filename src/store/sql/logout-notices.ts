import { sql } from 'kysely'
import type { LogoutNoticeStore } from '../contract/logout-notices.ts'
import type { Handle } from './handle.ts'

const table = sql.table('oauth2server_logout_notice')

export const sqlLogoutNotices = ({ read, write, purge }: Handle): LogoutNoticeStore => ({
  async add(logins, userId, { now, expiresAt }, most) {
    const rows = new Map(
      logins.map(({ clientKey, sid }) => [
        `${sid} ${clientKey}`,
        {
          id: `${sid} ${clientKey}`,
          client_key: clientKey,
          user_id: String(userId),
          sid,
          attempts: 0,
          due_at: now,
          expires_at: expiresAt,
        },
      ]),
    )
    if (rows.size === 0) return 0
    const kept = [...rows.values()].slice(-most)
    await write
      .insertInto('oauth2server_logout_notice')
      .values(kept)
      .onConflict((c) => c.doNothing())
      .execute()
    const surplus = read
      .selectFrom('oauth2server_logout_notice')
      .select('id')
      .where('user_id', '=', String(userId))
      .orderBy('expires_at', 'desc')
      .orderBy('id')
      .limit(rows.size + most)
      .offset(most)
    const { numDeletedRows } = await write
      .deleteFrom('oauth2server_logout_notice')
      .where('id', 'in', surplus)
      .executeTakeFirst()
    return rows.size - kept.length + Number(numDeletedRows)
  },

  async claim(now, until, { limit, each, busyUsers, busyClients }) {
    const isFree = sql.join(
      [
        sql`due_at <= ${now}`,
        ...(busyUsers.length > 0 ? [sql`user_id not in (${sql.join(busyUsers)})`] : []),
        ...(busyClients.length > 0 ? [sql`client_key not in (${sql.join(busyClients)})`] : []),
      ],
      sql` and `,
    )
    const turns = sql`
      select id, due_at,
        row_number() over (partition by user_id order by due_at, id) as of_user,
        row_number() over (partition by client_key order by due_at, id) as of_client
      from ${table} where ${isFree}`
    const next = sql<string>`
      select id from (${turns}) as turns where of_user <= ${each} and of_client <= ${each}
      order by of_user, due_at limit ${limit}`
    const claimed = await write
      .updateTable('oauth2server_logout_notice')
      .set((set) => ({ due_at: until, attempts: set('attempts', '+', 1) }))
      .where(sql<boolean>`id in (${next})`)
      // Check the time again, because another process may have claimed the notice in the meantime.
      .where('due_at', '<=', now)
      .returningAll()
      .execute()
    if (claimed.length === 0) return []
    const clients = await read
      .selectFrom('oauth2server_client')
      .select(['client_key', 'client_id'])
      .where('client_key', 'in', [...new Set(claimed.map((row) => row.client_key))])
      .execute()
    const ids = new Map(clients.map((client) => [client.client_key, client.client_id]))
    return claimed.map((row) => ({
      id: row.id,
      clientId: ids.get(row.client_key),
      clientKey: row.client_key,
      userId: row.user_id,
      sid: row.sid,
      attempts: row.attempts,
    }))
  },

  async retry(id, dueAt) {
    await write
      .updateTable('oauth2server_logout_notice')
      .set({ due_at: dueAt })
      .where('id', '=', id)
      .execute()
  },

  async delete(id) {
    await write.deleteFrom('oauth2server_logout_notice').where('id', '=', id).execute()
  },

  async deleteExpired(now, limit) {
    const expired = read
      .selectFrom('oauth2server_logout_notice')
      .select('id')
      .where('expires_at', '<=', now)
      .limit(limit)
    const { numDeletedRows } = await purge
      .deleteFrom('oauth2server_logout_notice')
      .where('id', 'in', expired)
      .executeTakeFirst()
    return Number(numDeletedRows)
  },
})
