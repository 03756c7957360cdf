import { type SelectQueryBuilder, sql } from 'kysely'
import type { AuditFilter } from '../contract/audit.ts'
import type { AuditCountStore } from '../contract/audit-counts.ts'
import { listOf } from './count.ts'
import { expiring } from './expiring.ts'
import { type Handle, prepared } from './handle.ts'
import type { Tables } from './tables.ts'

/** The maximum number of rows that `totals` reads, so that a page has a bounded cost. */
const maxSummed = 50_000

const key = ['at', 'client_id', 'event', 'grant_type', 'user_id'] as const

export const sqlAuditCounts = (handle: Handle): AuditCountStore => {
  const { read, purge, locking } = handle
  const put = prepared(handle, purge, 'auditCounts.put', (rows) => {
    const columns = [...key, 'writer', 'count'] as const
    const names = listOf(columns)
    // PostgreSQL locks the rows in the order of the insert. Sort the rows, so that two processes cannot deadlock. SQLite
    // can parse `on conflict` after a select only if the select has a condition.
    const values = locking
      ? sql`select ${names} from json_populate_recordset(null::oauth2server_audit_count, ${rows}::json) order by ${names}`
      : sql`select ${sql.join(columns.map((column) => sql`value ->> ${sql.lit(column)}`))} from json_each(${rows}) where true`
    return sql`insert into oauth2server_audit_count (${names}) ${values}
      on conflict (${listOf([...key, 'writer'])})
      do update set count = excluded.count`
  })
  const matching = <Row>(
    query: SelectQueryBuilder<Tables, 'oauth2server_audit_count', Row>,
    { event, userId, clientId, since, until }: AuditFilter,
  ) =>
    query
      .$if(event !== undefined, (q) => q.where('event', '=', event ?? ''))
      .$if(userId !== undefined, (q) => q.where('user_id', '=', String(userId)))
      .$if(clientId !== undefined, (q) => q.where('client_id', '=', clientId ?? ''))
      .$if(since !== undefined, (q) => q.where('at', '>=', since ?? 0))
      .$if(until !== undefined, (q) => q.where('at', '<', until ?? 0))
  const counts = read.selectFrom('oauth2server_audit_count')
  const sum = sql<number>`cast(sum(count) as bigint)`.as('count')

  return {
    async put(counts) {
      const rows = counts.map(({ at, event, grantType, clientId, userId, writer, count }) => ({
        at,
        client_id: clientId.toWellFormed(),
        event,
        grant_type: grantType.toWellFormed(),
        user_id: userId === null ? '' : String(userId).toWellFormed(),
        writer,
        count,
      }))
      await put(JSON.stringify(rows))
    },

    async list(filter, { after, limit }) {
      const place = placeOf(after)
      const rows = await matching(counts.select([...key, sum]), filter)
        .$if(place !== undefined, (q) =>
          q.where(sql<boolean>`(${listOf(key)}) > (${sql.join(place ?? [])})`),
        )
        .groupBy([...key])
        .orderBy('at')
        .orderBy('client_id')
        .orderBy('event')
        .orderBy('grant_type')
        .orderBy('user_id')
        .limit(limit + 1)
        .execute()
      const items = rows.slice(0, limit)
      const last = items.at(-1)
      return {
        items: items.map((row) => ({
          at: row.at,
          event: row.event,
          grantType: row.grant_type,
          clientId: row.client_id,
          userId: row.user_id || null,
          count: Number(row.count),
        })),
        next: rows.length > limit && last ? JSON.stringify(key.map((name) => last[name])) : null,
      }
    },

    async totals(filter, limit) {
      const latest = matching(counts.select(['event', 'grant_type', 'client_id', 'count']), filter)
        .orderBy('at', 'desc')
        .limit(maxSummed)
      const rows = await read
        .selectFrom(latest.as('latest'))
        .select(['event', 'grant_type', 'client_id', sum])
        .groupBy(['event', 'grant_type', 'client_id'])
        .orderBy(sql`sum(count)`, 'desc')
        .orderBy('client_id')
        .orderBy('event')
        .limit(limit)
        .execute()
      return rows.map((row) => ({
        event: row.event,
        grantType: row.grant_type,
        clientId: row.client_id,
        count: Number(row.count),
      }))
    },

    ...expiring(handle, {
      table: 'oauth2server_audit_count',
      key: [...key, 'writer'],
      end: 'at',
    }),
  }
}

type Place = readonly [at: number, ...names: string[]]

/** Parses a cursor that `list` has returned. Returns undefined for an invalid cursor, so that the list starts again. */
const placeOf = (after: string | null): Place | undefined => {
  try {
    const [at, ...names]: unknown[] = JSON.parse(after ?? '[]')
    const isPlace = Number.isSafeInteger(at) && names.length === key.length - 1
    return isPlace ? [Number(at), ...names.map(String)] : undefined
  } catch {
    return undefined
  }
}
