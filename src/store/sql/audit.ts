import { sql } from 'kysely'
import { auditCodec, auditColumns } from '../../model/entities/audit-event.ts'
import type { AuditStore, StoredAuditRow } from '../contract/audit.ts'
import type { Page } from '../contract/page.ts'
import { expiring } from './expiring.ts'
import { type Handle, prepared, valuesOf } from './handle.ts'
import { page, placeOf } from './page.ts'
import { selectOf } from './rows.ts'

/** The columns that an insert writes, and the conversion of an event. */
export const { columns: auditColumnNames, toRow } = auditCodec

const storedRow = (
  row: Parameters<typeof auditCodec.fromRow>[0] & { seal: string },
): StoredAuditRow => ({
  id: row.id,
  seal: row.seal,
  values: auditColumns.map((column) => row[column]),
})

export const sqlAudit = (handle: Handle): AuditStore => {
  const { read, write, purge, locking } = handle
  const add = prepared(
    handle,
    write,
    'audit.add',
    (...values) =>
      write.insertInto('oauth2server_audit').values(valuesOf(auditColumnNames, values)),
    auditColumnNames.length,
  )
  // Pass all rows as one JSON parameter, because the query builder is slow with thousands of parameters.
  const insertAll = prepared(handle, purge, 'audit.addMany', (rows) => {
    const names = sql.join(auditColumnNames.map((column) => sql.ref(column)))
    const values = locking
      ? sql`select ${names} from json_populate_recordset(null::oauth2server_audit, ${rows}::json)`
      : sql`select ${sql.join(auditColumnNames.map((column) => sql`value ->> ${sql.lit(column)}`))} from json_each(${rows})`
    return sql`insert into oauth2server_audit (${names}) ${values}`
  })

  // Returns the IDs of open transactions that may have inserted rows. In PostgreSQL, a row gets its ID before the
  // commit, and its transaction holds a lock on the table until the commit. In SQLite, transactions write one after the
  // other, so the IDs become visible in ascending order, and the list is empty.
  const writers = async (): Promise<readonly string[]> => {
    if (!locking) return []
    const { rows } = await sql<{ writer: string }>`
      select distinct virtualtransaction as writer from pg_locks
      where relation = 'oauth2server_audit'::regclass and mode = 'RowExclusiveLock'
        and database = (select oid from pg_database where datname = current_database())`.execute(
      read,
    )
    return rows.map(({ writer }) => writer)
  }

  // Advances the sequence of the IDs to an ID, and returns whether the sequence was behind this ID. An attacker with
  // write access to the database could insert a row with a large ID, or set the sequence back.
  const advanceSequence = async (id: number): Promise<boolean> => {
    if (locking) {
      const { rows } = await sql`
        select setval(s.name::regclass, ${id}) from pg_get_serial_sequence('oauth2server_audit', 'id') as s (name)
        where coalesce(pg_sequence_last_value(s.name::regclass), 0) < ${id}`.execute(write)
      return rows.length > 0
    }
    const { rows } = await sql`
      select seq from sqlite_sequence where name = 'oauth2server_audit' and seq >= ${id}`.execute(
      read,
    )
    if (rows.length > 0 || id === 0) return false
    await sql`delete from sqlite_sequence where name = 'oauth2server_audit'`.execute(write)
    await sql`insert into sqlite_sequence (name, seq) values ('oauth2server_audit', ${id})`.execute(
      write,
    )
    return true
  }

  return {
    async add(event) {
      await add(...auditCodec.toCells(event))
    },

    async addMany(events) {
      // Insert in one statement instead of a transaction. For a SQLite file, `purge` runs in another thread, and this
      // thread sends each statement as a message. A transaction would hold the write lock between the messages, while
      // other writes of this thread wait for the lock.
      if (events.length > 0) await insertAll(JSON.stringify(events.map(toRow)))
    },

    async list(
      first,
      { event, userId, clientId, tokenId, address, withoutRoutine, since, until },
      { after, limit },
    ) {
      const order = first === 'latest' ? 'desc' : 'asc'
      const [at, id] = placeOf(after) ?? []
      const hasPlace = id !== undefined && /^\d{1,15}$/.test(id)
      const isAfter = order === 'asc' ? sql`>` : sql`<`
      const rows = await read
        .selectFrom('oauth2server_audit')
        .selectAll()
        .$if(event !== undefined, (q) => q.where('event', '=', event ?? ''))
        .$if(userId !== undefined, (q) => q.where('user_id', '=', String(userId)))
        .$if(clientId !== undefined, (q) => q.where('client_id', '=', clientId ?? ''))
        .$if(tokenId !== undefined, (q) => q.where('token_id', '=', tokenId ?? 0))
        .$if(address !== undefined, (q) => q.where('address', '=', address ?? ''))
        // Use a literal instead of a parameter, so that the planner can use the partial index with the same condition.
        .$if(withoutRoutine === true, (q) => q.where(sql<boolean>`is_routine = 0`))
        .$if(since !== undefined, (q) => q.where('at', '>=', since ?? 0))
        .$if(until !== undefined, (q) => q.where('at', '<', until ?? 0))
        .$if(hasPlace, (q) => q.where(sql<boolean>`(at, id) ${isAfter} (${at}, ${Number(id)})`))
        .orderBy('at', order)
        .orderBy('id', order)
        .limit(limit + 1)
        .execute()
      const place = ({ at, id }: (typeof rows)[number]) => [at, String(id)] as const
      return page(rows, limit, auditCodec.fromRow, place) as Page<never>
    },

    select: selectOf(handle, { ...auditCodec, fromRow: storedRow }),

    async mark({ after, until }) {
      // Query the last ID before the list of open transactions. A transaction with a smaller ID is then in the list, or
      // has already ended.
      const [row] = await read
        .selectFrom('oauth2server_audit')
        .select((q) => q.fn.max('id').as('id'))
        .where('id', '<=', until)
        .execute()
      const id = Number(row?.id ?? 0)
      const wasSetBack = await advanceSequence(Math.max(id, after))
      return { id, wasSetBack, writers: await writers() }
    },

    async isSettled(mark) {
      if (mark.writers.length === 0) return true
      const now = await writers()
      return !mark.writers.some((writer) => now.includes(writer))
    },

    async copies({ after, until }) {
      const rows = await read
        .selectFrom('oauth2server_audit as a')
        .select('a.id')
        .where('a.id', '>', after)
        .where('a.id', '<=', until)
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('oauth2server_audit as b')
              .select('b.id')
              .whereRef('b.at', '=', 'a.at')
              .whereRef('b.id', '<', 'a.id')
              .whereRef('b.seal', '=', 'a.seal'),
          ),
        )
        .execute()
      return rows.map(({ id }) => id)
    },

    deleteExpired: ({ lastId }, limit) =>
      expiring(handle, { ...auditCodec, end: 'id' }).deleteExpired(lastId, limit),
    countExpired: expiring(handle, { ...auditCodec, end: 'at' }).countExpired,
  }
}
