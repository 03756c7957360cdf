import { type Insertable, type Selectable, sql } from 'kysely'
import type { AuditActor, AuditEvent, AuditRecord } from '../../model/audit-event.ts'
import type { AuditFilter, AuditStore, Part, PartOf } from '../store.ts'
import { flag, type Handle } from './handle.ts'
import { part, placeOf } from './part.ts'
import type { Tables } from './tables.ts'

type Table = Tables['oauth2server_audit']

export const sqlAudit = ({ read, write, purge, locking }: Handle): AuditStore => {
  // One parameter for any number of rows: thousands of them cost the builder more than the database.
  const insertAll = (events: readonly AuditEvent[]) => {
    const rows = JSON.stringify(events.map(toRow))
    const names = sql.join(columns.map((column) => sql.ref(column)))
    const given = locking
      ? sql`select ${names} from json_populate_recordset(null::oauth2server_audit, ${rows}::json)`
      : sql`select ${sql.join(columns.map((column) => sql`value ->> ${sql.lit(column)}`))} from json_each(${rows})`
    return sql`insert into oauth2server_audit (${names}) ${given}`
  }

  const listed = async (
    { event, userId, clientId, withoutRoutine, since, until }: AuditFilter,
    { after, limit }: PartOf,
    order: 'asc' | 'desc',
  ): Promise<Part<AuditRecord>> => {
    const [at, id] = placeOf(after) ?? []
    const hasPlace = id !== undefined && /^\d{1,15}$/.test(id)
    const behind = order === 'asc' ? sql`>` : sql`<`
    const rows = await read
      .selectFrom('oauth2server_audit')
      .selectAll()
      .$if(event !== undefined, (q) => q.where('event', '=', event ?? ''))
      .$if(userId !== undefined, (q) => q.where('user_id', '=', String(userId)))
      .$if(clientId !== undefined, (q) => q.where('client_id', '=', clientId ?? ''))
      // No parameter: the index of these rows says so, too.
      .$if(withoutRoutine === true, (q) => q.where(sql<boolean>`is_routine = 0`))
      .$if(since !== undefined, (q) => q.where('at', '>=', since ?? 0))
      .$if(until !== undefined, (q) => q.where('at', '<', until ?? 0))
      .$if(hasPlace, (q) => q.where(sql<boolean>`(at, id) ${behind} (${at}, ${Number(id)})`))
      .orderBy('at', order)
      .orderBy('id', order)
      .limit(limit + 1)
      .execute()
    return part(rows, limit, fromRow, ({ at, id }) => [at, String(id)])
  }

  return {
    async add(event) {
      await write.insertInto('oauth2server_audit').values(toRow(event)).execute()
    },

    async addMany(events) {
      // A statement of its own, and no transaction: what is written on another thread must not wait for this one,
      // which may be waiting for the same lock.
      if (events.length > 0) await insertAll(events).execute(purge)
    },

    latest: (filter, partOf) => listed(filter, partOf, 'desc'),

    earliest: (filter, partOf) => listed(filter, partOf, 'asc'),

    async deleteBefore(at, limit) {
      const old = read
        .selectFrom('oauth2server_audit')
        .select('id')
        .where('at', '<', at)
        .orderBy('at')
        .limit(limit)
      const { numDeletedRows } = await purge
        .deleteFrom('oauth2server_audit')
        .where('id', 'in', old)
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}

const columns = [
  'at',
  'event',
  'actor',
  'actor_id',
  'actor_email',
  'user_id',
  'user_email',
  'client_id',
  'token_id',
  'authorization_id',
  'subject',
  'address',
  'user_agent',
  'request_id',
  'is_routine',
  'details',
] as const satisfies readonly (keyof Insertable<Table>)[]

const toRow = (event: AuditEvent): Insertable<Table> => ({
  at: event.at,
  event: event.event,
  actor: event.actor,
  actor_id: event.actorId === null ? null : String(event.actorId),
  actor_email: event.actorEmail,
  user_id: event.userId === null ? null : String(event.userId),
  user_email: event.userEmail,
  client_id: event.clientId,
  token_id: event.tokenId,
  authorization_id: event.authorizationId,
  subject: event.subject,
  address: event.address,
  user_agent: event.userAgent,
  request_id: event.requestId,
  is_routine: flag(event.isRoutine),
  details: JSON.stringify(event.details),
})

const fromRow = (row: Selectable<Table>): AuditRecord => ({
  id: row.id,
  at: row.at,
  event: row.event,
  actor: row.actor as AuditActor,
  actorId: row.actor_id,
  actorEmail: row.actor_email,
  userId: row.user_id,
  userEmail: row.user_email,
  clientId: row.client_id,
  tokenId: row.token_id,
  authorizationId: row.authorization_id,
  subject: row.subject,
  address: row.address,
  userAgent: row.user_agent,
  requestId: row.request_id,
  isRoutine: row.is_routine === 1,
  details: JSON.parse(row.details),
})
