import { sql } from 'kysely'
import { logoutNoticeCodec } from '../../model/entities/logout-notice.ts'
import type { LogoutNoticeStore } from '../contract/logout-notices.ts'
import { withClientIds } from './client-logins.ts'
import { expiring } from './expiring.ts'
import type { Handle } from './handle.ts'
import { rowsOf } from './rows.ts'

const { table } = logoutNoticeCodec

export const sqlLogoutNotices = (handle: Handle): LogoutNoticeStore => ({
  ...rowsOf(handle, logoutNoticeCodec),
  ...expiring(handle, { ...logoutNoticeCodec, end: 'expires_at' }),

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
    await handle.write
      .insertInto(table)
      .values(kept)
      .onConflict((c) => c.doNothing())
      .execute()
    const surplus = handle.read
      .selectFrom(table)
      .select('id')
      .where('user_id', '=', String(userId))
      .orderBy('expires_at', 'desc')
      .orderBy('id')
      .limit(rows.size + most)
      .offset(most)
    const { numDeletedRows } = await handle.write
      .deleteFrom(table)
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
      from ${sql.table(table)} where ${isFree}`
    const next = sql<string>`
      select id from (${turns}) as turns where of_user <= ${each} and of_client <= ${each}
      order by of_user, due_at limit ${limit}`
    const claimed = await handle.write
      .updateTable(table)
      .set((set) => ({ due_at: until, attempts: set('attempts', '+', 1) }))
      .where(sql<boolean>`id in (${next})`)
      // Check the time again, because another process may have claimed the notice in the meantime.
      .where('due_at', '<=', now)
      .returningAll()
      .execute()
    return withClientIds(handle, claimed.map(logoutNoticeCodec.fromRow))
  },
})
