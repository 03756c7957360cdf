import { sql } from 'kysely'
import type { ExpiredStore } from '../contract/sweeper.ts'
import { countRows } from './count.ts'
import type { Handle } from './handle.ts'

const one = sql.lit(1).as('one')

/** Counts expired rows, up to a maximum for each kind. Each count uses an index. */
export const sqlExpired = ({ read }: Handle): ExpiredStore => ({
  async count({ now, idleSince, auditBefore }, max) {
    const counted = (
      table: 'token' | 'authorization' | 'session' | 'transient',
      end: 'ends_at' | 'expires_at',
    ) =>
      countRows(
        read,
        read
          .selectFrom(`oauth2server_${table}`)
          .select(one)
          .where(sql<boolean>`${sql.ref(end)} <= ${now}`)
          .limit(max),
      )
    const idle = read
      .selectFrom('oauth2server_session')
      .select(one)
      .where('last_seen_at', '<=', idleSince)
      .where('expires_at', '>', now)
      .limit(max)
    const audit = read
      .selectFrom('oauth2server_audit')
      .select(one)
      .where('at', '<', auditBefore ?? 0)
      .limit(max)
    const sessions = (await counted('session', 'expires_at')) + (await countRows(read, idle))
    return {
      tokens: await counted('token', 'ends_at'),
      authorizations: await counted('authorization', 'expires_at'),
      sessions: Math.min(max, sessions),
      transients: await counted('transient', 'expires_at'),
      auditEvents: auditBefore === null ? 0 : await countRows(read, audit),
    }
  },
})
