import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { emailTexts } from '../../model/email-address.ts'
import { type ClientOrigin, type ClientRow, clientCodec } from '../../model/entities/client.ts'
import { split } from '../../model/entities/field.ts'
import type { UserId } from '../../model/user.ts'
import type {
  AnyClientSummary,
  AuthorizedSummary,
  ClientStore,
  ClientSummary,
  ClientWithOwner,
  RecalledClient,
} from '../contract/clients.ts'
import type { Cursor } from '../contract/page.ts'
import type { Store } from '../store.ts'
import { followClient } from './client-logos.ts'
import { clientVersion } from './client-version.ts'
import { countRows } from './count.ts'
import { byKey, type Handle, holds, keyOf, lookup, onceFor } from './handle.ts'
import { page, placeOf } from './page.ts'
import { noteRemovals } from './removals.ts'
import { rowsOf } from './rows.ts'
import { isThere, type JoinedUser, joinedUser, userColumnsOf, userSource } from './user-source.ts'

const withOwner =
  (handle: Handle) =>
  (row: ClientRow & JoinedUser): ClientWithOwner => ({
    ...clientCodec.fromRow(row),
    owner: joinedUser(handle, row),
  })

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

  /** Adds the order and the cursor to a query of clients. Omits the clients of personal tokens. */
  const inOrder = <DB extends { c: ClientRow }, TB extends keyof DB, Out>(
    query: SelectQueryBuilder<DB, TB, Out>,
    { after, limit }: Cursor,
  ): SelectQueryBuilder<DB, TB, Out> => {
    const place = placeOf(after)
    return query
      .where(sql<boolean>`c.is_personal = 0`)
      .$if(place !== undefined, (q) =>
        q.where(sql<boolean>`(c.created_at, c.client_id) < (${place?.[0]}, ${place?.[1]})`),
      )
      .orderBy(sql`c.created_at`, 'desc')
      .orderBy(sql`c.client_id`, 'desc')
      .limit(limit + 1)
  }

  const listed = async (query: ReturnType<typeof clientsWithOwner>, cursor: Cursor) => {
    const rows = await inOrder(query, cursor).execute()
    return page(rows, cursor.limit, withOwnerFromRow, (row) => [row.created_at, row.client_id])
  }

  // Selects few columns and joins no users: an HTML page reads many summaries to search and sort them, and shows only a
  // few.
  const summaries = (condition: RawBuilder<boolean>, cursor: Cursor) =>
    inOrder(
      read.selectFrom('oauth2server_client as c').select(summaryColumns).where(condition),
      cursor,
    )

  type SummaryRow = Awaited<ReturnType<ReturnType<typeof summaries>['execute']>>[number]
  const fromSummary = (row: SummaryRow): ClientSummary => ({
    clientId: row.client_id,
    name: row.name,
    isConfidential: row.is_confidential === 1,
    isVerified: row.is_verified === 1,
    isDisabled: row.is_disabled === 1,
    createdAt: row.created_at,
  })
  const summaryPlace = (row: SummaryRow) => [row.created_at, row.client_id] as const

  /** Builds the query for the clients whose name, ID or owner's e-mail address contains the text. */
  const matching = (text: string): ReturnType<typeof clientsWithOwner> => {
    if (text === '') return clientsWithOwner()
    // Convert the text to lower case in the database and in JavaScript, and compare with both results. The function
    // `lower` only converts ASCII in SQLite, and in PostgreSQL with locale C.
    const contains = (column: 'c.name' | 'c.client_id' | 'u.email', part = text) => {
      const pattern = `%${part.replaceAll(/[\\%_]/g, '\\$&')}%`
      const value = sql.ref(column)
      return sql<boolean>`(lower(${value}) like lower(${pattern}) escape '\\' or lower(${value}) like ${pattern.toLowerCase()} escape '\\')`
    }
    return clientsWithOwner().where(({ or }) =>
      or([
        contains('c.name'),
        contains('c.client_id'),
        ...emailTexts(text).map((part) => contains('u.email', part)),
      ]),
    )
  }

  const isOwn = (userId: UserId) => sql<boolean>`c.user_id = ${userId} and c.is_internal = 0`
  const isAuthorized = (userId: UserId, now: number) =>
    sql<boolean>`c.client_key in (
      select client_key from oauth2server_consent where user_id = ${userId}
      union select client_key from oauth2server_authorization
      where user_id = ${userId} and revoked_at is null and expires_at > ${now})`

  const unused = (inUse: readonly string[]) =>
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
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('oauth2server_token as t')
              .select('t.id')
              .whereRef('t.client_key', '=', 'c.client_key'),
          ),
        ),
      )
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('oauth2server_authorization as a')
              .select('a.id')
              .whereRef('a.client_key', '=', 'c.client_key'),
          ),
        ),
      )
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('oauth2server_consent as s')
              .select('s.client_key')
              .whereRef('s.client_key', '=', 'c.client_key'),
          ),
        ),
      )

  // One index covers all conditions, so a count up to a limit reads no more index entries than this limit.
  const usersOf = (clientKey: RawBuilder<number>) =>
    read
      .selectFrom('oauth2server_token as t')
      .select(sql.lit(1).as('one'))
      .where('t.client_key', '=', clientKey)
      .where('t.is_personal', '=', 0)
      .where('t.is_internal', '=', 0)
      .where('t.parent_id', 'is', null)

  return {
    recall,

    async find(clientId) {
      const row = await byId(clientId)
      return row && cachedFromRow(row)
    },

    async findBySecret(digest) {
      const row = await clientsWithOwner()
        .where((c) =>
          c.or([c('c.client_secret', '=', digest), c('c.previous_client_secret', '=', digest)]),
        )
        .$if(holds(handle), (q) => q.forNoKeyUpdate(['c']))
        .executeTakeFirst()
      return row && withOwnerFromRow(row)
    },

    async findByRegistrationToken(digest) {
      const row = await clientsWithOwner()
        .where('c.registration_token', '=', digest)
        .$if(holds(handle), (q) => q.forNoKeyUpdate(['c']))
        .executeTakeFirst()
      return row && withOwnerFromRow(row)
    },

    ofOwner(userId, cursor) {
      return listed(clientsWithOwner().where(isOwn(userId)), cursor)
    },

    async summariesOfOwner(userId, cursor) {
      const rows = await summaries(isOwn(userId), cursor).execute()
      return page(rows, cursor.limit, fromSummary, summaryPlace)
    },

    async summariesAuthorizedBy(userId, now, cursor) {
      const live = sql`from oauth2server_authorization a
        where a.user_id = ${userId} and a.client_key = c.client_key and a.revoked_at is null and a.expires_at > ${now}`
      const rows = await summaries(isAuthorized(userId, now), cursor)
        .select([
          sql<string | null>`(select scopes from oauth2server_consent
            where user_id = ${userId} and client_key = c.client_key)`.as('consented'),
          sql<string | null>`(select string_agg(a.scopes, ' ') ${live})`.as('authorized'),
          sql<number | null>`(select max((select max(t.last_used_at) from oauth2server_token t
            where t.authorization_id = a.id)) ${live})`.as('last_used_at'),
        ])
        .execute()
      const fromRow = (row: (typeof rows)[number]): AuthorizedSummary => ({
        ...fromSummary(row),
        scopes: [...new Set([...split(row.consented ?? ''), ...split(row.authorized ?? '')])],
        lastUsedAt: row.last_used_at === null ? null : Number(row.last_used_at),
      })
      return page(rows, cursor.limit, fromRow, summaryPlace)
    },

    async among(clientIds) {
      if (clientIds.length === 0) return []
      const rows = await clientsWithOwner().where('c.client_id', 'in', clientIds).execute()
      return rows.map(withOwnerFromRow)
    },

    search(text, cursor) {
      return listed(matching(text), cursor)
    },

    async searchSummaries(text, cursor) {
      const rows = await inOrder(matching(text).clearSelect().select(summaryColumns), cursor)
        .select('c.origin')
        .select(
          sql<number>`case when exists ${usersOf(sql.ref('c.client_key'))} then 1 else 0 end`.as(
            'is_used',
          ),
        )
        .execute()
      const fromRow = (row: (typeof rows)[number]): AnyClientSummary => ({
        ...fromSummary(row),
        origin: row.origin as ClientOrigin,
        isUsed: Number(row.is_used) === 1,
      })
      return page(rows, cursor.limit, fromRow, summaryPlace)
    },

    authorizedBy(userId, now, cursor) {
      return listed(clientsWithOwner().where(isAuthorized(userId, now)), cursor)
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

    async deleteUnused(before, limit, inUse) {
      const old = unused(inUse)
        .where('c.created_at', '<', before)
        .orderBy('c.created_at')
        .limit(limit)
      const deleted = await purge
        .deleteFrom('oauth2server_client')
        .where('client_key', 'in', old)
        .returning('client_key')
        .execute()
      // The deleted clients had no tokens, authorizations or consents, but a concurrent request may be adding some.
      // Note the keys, so that the sweeper deletes these rows.
      const keys = deleted.map(({ client_key }) => client_key)
      await noteRemovals(purge, 'client', keys, before)
      return deleted.length
    },

    async countUnused(max, inUse, before) {
      // This query may read thousands of rows, so use the connection for slow work. For a SQLite file, this connection
      // runs in a separate thread.
      const some = unused(inUse)
        .$if(before !== undefined, (q) => q.where('c.created_at', '<', before ?? 0))
        .orderBy('c.created_at')
        .limit(max)
      const { count } = await purge
        .selectFrom(some.as('u'))
        .select((c) => c.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      return Number(count)
    },

    countOfOwner(userId, max) {
      return countRows(
        read,
        read
          .selectFrom('oauth2server_client')
          .select(sql.lit(1).as('one'))
          .where('user_id', '=', userId)
          .where('is_personal', '=', 0)
          .where('is_internal', '=', 0)
          .limit(max),
      )
    },

    countTokens(clientId, max) {
      return countRows(read, usersOf(keyOf(clientId)).limit(max))
    },

    async countTokensOf(clientIds, max) {
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
