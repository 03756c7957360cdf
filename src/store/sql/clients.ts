import { type RawBuilder, sql } from 'kysely'
import { emailTexts } from '../../model/email-address.ts'
import { type ClientOrigin, type ClientRow, clientCodec } from '../../model/entities/client.ts'
import { split } from '../../model/entities/field.ts'
import type {
  ClientConditions,
  ClientLists,
  ClientStore,
  ClientSummary,
  ClientWithOwner,
  RecalledClient,
  UnusedClients,
} from '../contract/clients.ts'
import type { List } from '../contract/page.ts'
import type { Reads } from '../contract/rows.ts'
import type { Store } from '../store.ts'
import { followClient } from './client-logos.ts'
import { clientVersion } from './client-version.ts'
import { countRows } from './count.ts'
import { byKey, type Handle, holds, lookup, onceFor } from './handle.ts'
import { type ListQueries, listed } from './listed.ts'
import { noteRemovals } from './removals.ts'
import { readsOf, rowsOf } from './rows.ts'
import { isThere, type JoinedUser, joinedUser, userColumnsOf, userSource } from './user-source.ts'

const withOwner =
  (handle: Handle) =>
  (row: ClientRow & JoinedUser): ClientWithOwner => ({
    ...clientCodec.fromRow(row),
    owner: joinedUser(handle, row),
  })

/** How a list of applications is selected, and the columns that its summaries have in addition. */
interface ClientList<L extends List<unknown, unknown, ClientSummary>> {
  isListed(where: L['where']): RawBuilder<boolean>
  /** Whether the query must join the owners. */
  readonly joinsOwner?: boolean
  more?(where: L['where']): Readonly<Record<string, RawBuilder<unknown>>>
  fromRow?(row: Readonly<Record<string, string | null>>): Omit<L['summary'], keyof ClientSummary>
}

/** Builds the condition that no row of a table belongs to the client. */
const hasNo = (table: 'token' | 'authorization' | 'consent'): RawBuilder<boolean> =>
  sql`not exists (select 1 from ${sql.table(`oauth2server_${table}`)} as x where x.client_key = c.client_key)`

/** Builds the condition that the name, ID or owner's e-mail address contains the text. */
const contains = (text: string): RawBuilder<boolean> => {
  if (text === '') return sql`1 = 1`
  // Convert the text to lower case in the database and in JavaScript, and compare with both results. The function `lower`
  // only converts ASCII in SQLite, and in PostgreSQL with locale C.
  const isIn = (column: string, part = text) => {
    const pattern = `%${part.replaceAll(/[\\%_]/g, '\\$&')}%`
    const value = sql.ref(column)
    return sql`(lower(${value}) like lower(${pattern}) escape '\\' or lower(${value}) like ${pattern.toLowerCase()} escape '\\')`
  }
  const emails = emailTexts(text).map((part) => isIn('u.email', part))
  return sql`(${sql.join([isIn('c.name'), isIn('c.client_id'), ...emails], sql` or `)})`
}

/** The columns of a summary. */
const summaryColumns = [
  'c.client_id',
  'c.name',
  'c.is_confidential',
  'c.is_verified',
  'c.is_disabled',
  'c.created_at',
] as const

/** Builds the `clients` of a store. The additional function `recall` is the `recallClient` of the store. */
export const sqlClients = (
  handle: Handle,
): ClientStore & { readonly recall: Store['recallClient'] } => {
  const { read, write, purge, hot, locking } = handle
  const withOwnerFromRow = withOwner(handle)
  const clientsWithOwner = () =>
    read
      .selectFrom('oauth2server_client as c')
      .leftJoin(userSource(handle, 'u'), (join) => join.on(byKey(handle, 'u.id', 'c.user_id')))
      .selectAll('c')
      .select(userColumnsOf(handle))
      .where(isThere(handle, { userId: 'c.user_id', createdAt: 'c.created_at' }, 'u'))
  const byId = lookup(
    handle,
    'clients.find',
    (match) =>
      clientsWithOwner()
        .where(match('c.client_id'))
        .$if(hot !== undefined && locking, (q) => q.select(clientVersion.as('version')))
        .$if(holds(handle), (q) => q.forNoKeyUpdate(['c'])),
    (row) => row.client_id,
  )

  const reads: Reads<ClientWithOwner, ClientConditions> = readsOf(handle, {
    ...clientCodec,
    alias: 'c',
    query: clientsWithOwner,
    fromRow: withOwnerFromRow,
    own: {
      secret: (digest) =>
        sql`(c.client_secret = ${digest} or c.previous_client_secret = ${digest})`,
    },
  })
  const cachedFromRow = onceFor(withOwnerFromRow)
  // Rows have a version only on PostgreSQL. On SQLite, a look-up takes no longer than the comparison.
  const recall =
    hot !== undefined && locking
      ? (clientId: string): RecalledClient | undefined => {
          const row = byId.recall?.(clientId)
          return row?.version === undefined
            ? undefined
            : { row: cachedFromRow(row), version: row.version }
        }
      : undefined

  // An HTML page reads many summaries to search and sort them, so most summaries join no users.
  const clients = () => read.selectFrom('oauth2server_client as c')
  const isApplication = sql<boolean>`c.is_personal = 0`
  const lists: { readonly [Name in keyof ClientLists]: ClientList<ClientLists[Name]> } = {
    owned: {
      isListed: ({ userId }) => sql`c.user_id = ${userId} and c.is_internal = 0`,
    },
    among: {
      isListed: ({ clientIds }) =>
        clientIds.length === 0 ? sql`1 = 0` : sql`c.client_id in (${sql.join(clientIds)})`,
    },
    authorized: {
      isListed: ({ userId, now }) => sql`c.client_key in (
        select client_key from oauth2server_consent where user_id = ${userId}
        union select client_key from oauth2server_authorization
        where user_id = ${userId} and revoked_at is null and expires_at > ${now})`,
      more({ userId, now }) {
        const live = sql`from oauth2server_authorization a
          where a.user_id = ${userId} and a.client_key = c.client_key and a.revoked_at is null and a.expires_at > ${now}`
        return {
          consented: sql`(select scopes from oauth2server_consent
            where user_id = ${userId} and client_key = c.client_key)`,
          granted: sql`(select string_agg(a.scopes, ' ') ${live})`,
          last_used_at: sql`(select max((select max(t.last_used_at) from oauth2server_token t
            where t.authorization_id = a.id)) ${live})`,
        }
      },
      fromRow: ({ consented, granted, last_used_at: last }) => ({
        scopes: [...new Set([...split(consented ?? ''), ...split(granted ?? '')])],
        lastUsedAt: last === null ? null : Number(last),
      }),
    },
    matching: {
      joinsOwner: true,
      isListed: ({ text }) => contains(text),
      more: () => ({
        origin: sql`c.origin`,
        is_used: sql`case when exists ${usersOf(sql.ref('c.client_key'))} then 1 else 0 end`,
      }),
      fromRow: ({ origin, is_used: isUsed }) => ({
        origin: origin as ClientOrigin,
        isUsed: Number(isUsed) === 1,
      }),
    },
  }

  const unused = ({ before, inUse }: UnusedClients, limit: number) =>
    read
      .selectFrom('oauth2server_client as c')
      .select('c.client_key')
      // Write this condition exactly like the condition of the partial index, so that the database uses the index.
      .where(sql<boolean>`c.origin <> 'owner'`)
      .where(({ and }) =>
        and(
          inUse.map(
            (type) =>
              sql<boolean>`(c.grant_types is not null and ' ' || c.grant_types || ' ' not like ${`% ${type} %`})`,
          ),
        ),
      )
      // Retain disabled clients. If a client with a metadata document were deleted, its next request would store it
      // again, as an enabled client.
      .where('c.is_disabled', '=', 0)
      .where('c.is_verified', '=', 0)
      .where('c.is_pinned', '=', 0)
      .where(hasNo('token'))
      .where(hasNo('authorization'))
      .where(hasNo('consent'))
      .where('c.created_at', '<', before)
      .orderBy('c.created_at')
      .limit(limit)

  // One index covers all conditions, so a count up to a limit reads no more index entries than this limit.
  const usersOf = (clientKey: RawBuilder<number>) =>
    read
      .selectFrom('oauth2server_token as t')
      .select(sql.lit(1).as('one'))
      .where('t.client_key', '=', clientKey)
      .where('t.is_personal', '=', 0)
      .where('t.is_internal', '=', 0)
      .where('t.parent_id', 'is', null)

  const queriesOf = <L extends List<unknown, ClientWithOwner, ClientSummary>>({
    isListed,
    joinsOwner,
    more,
    fromRow,
  }: ClientList<L>): ListQueries<L> => ({
    rows: (where) => clientsWithOwner().where(isListed(where)).where(isApplication),
    fromRow: withOwnerFromRow,
    summaries(where) {
      const added = Object.entries(more?.(where) ?? {}).map(([alias, value]) => value.as(alias))
      return (joinsOwner ? clientsWithOwner().clearSelect() : clients())
        .select([...summaryColumns, ...added])
        .where(isListed(where))
        .where(isApplication)
    },
    summaryFromRow: (row: ClientRow): L['summary'] => ({
      clientId: row.client_id,
      name: row.name,
      isConfidential: row.is_confidential === 1,
      isVerified: row.is_verified === 1,
      isDisabled: row.is_disabled === 1,
      createdAt: row.created_at,
      ...fromRow?.(row as never),
    }),
  })

  return {
    recall,
    ...listed<ClientLists>(read, ['c.created_at', 'c.client_id'], {
      owned: queriesOf(lists.owned),
      among: queriesOf(lists.among),
      authorized: queriesOf(lists.authorized),
      matching: queriesOf(lists.matching),
    }),

    async find(of) {
      if (typeof of === 'object') return (await reads.select(of, { lock: 'change' }))[0]
      const row = await byId(of)
      return row && cachedFromRow(row)
    },

    insert: rowsOf(handle, clientCodec).insert,

    async update(clientId, client, now) {
      const { fields } = client
      // The secret and the ID are unique. Check for a collision before writing.
      const taken = await write
        .selectFrom('oauth2server_client')
        .select('client_id')
        .where('client_id', '!=', clientId)
        .where((c) =>
          c.or([
            c('client_id', '=', fields.clientId),
            c('client_secret', '=', fields.clientSecret),
          ]),
        )
        .executeTakeFirst()
      if (taken) return false
      const former = await write
        .selectFrom('oauth2server_client')
        .select('client_key')
        .where('client_id', '=', clientId)
        .where('client_key', '!=', fields.clientKey)
        .execute()
      const keys = former.map(({ client_key }) => client_key)
      await noteRemovals(write, 'client', keys, now)
      await write
        .updateTable('oauth2server_client')
        .set(clientCodec.toRow(client))
        .where('client_id', '=', clientId)
        .execute()
      await followClient(write, fields, keys)
      return true
    },

    async delete(clientId, now) {
      const row = await write
        .deleteFrom('oauth2server_client')
        .where('client_id', '=', clientId)
        .returning('client_key')
        .executeTakeFirst()
      if (!row) return false
      await noteRemovals(write, 'client', [row.client_key], now)
      return true
    },

    async deletePersonalOf(userId, now, limit) {
      const some = write
        .selectFrom('oauth2server_client')
        .select('client_key')
        .where('user_id', '=', userId)
        .where('is_personal', '=', 1)
        .limit(limit)
      const deleted = await write
        .deleteFrom('oauth2server_client')
        .where('client_key', 'in', some)
        .returning('client_key')
        .execute()
      const keys = deleted.map(({ client_key }) => client_key)
      await noteRemovals(write, 'client', keys, now)
      return keys.length
    },

    async endOwnTokens(clientId) {
      await write
        .updateTable('oauth2server_client')
        .set((set) => ({
          own_tokens_until: set
            .selectFrom('oauth2server_token')
            .select((token) => token.fn.max('id').as('last')),
        }))
        .where('client_id', '=', clientId)
        .execute()
    },

    async deleteExpired(which, limit) {
      const deleted = await purge
        .deleteFrom('oauth2server_client')
        .where('client_key', 'in', unused(which, limit))
        .returning('client_key')
        .execute()
      // The deleted clients had no tokens, authorizations or consents, but a concurrent request may be adding some.
      // Note the keys, so that the sweeper deletes these rows.
      const keys = deleted.map(({ client_key }) => client_key)
      await noteRemovals(purge, 'client', keys, which.before)
      return deleted.length
    },

    // This query may read thousands of rows, so use the connection for slow work. For a SQLite file, this connection
    // runs in a separate thread.
    countExpired: (which, max) => countRows(purge, unused(which, max)),

    async countTokens(clientIds, max) {
      if (clientIds.length === 0) return new Map()
      const some = usersOf(sql.ref('c.client_key')).limit(max)
      const rows = await read
        .selectFrom('oauth2server_client as c')
        .select('c.client_id')
        .select(sql<number>`(select count(*) from (${some}) as limited)`.as('count'))
        .where('c.client_id', 'in', clientIds)
        .execute()
      return new Map(rows.map(({ client_id, count }) => [client_id, Number(count)]))
    },
  }
}
