import {
  type AliasedExpression,
  type Insertable,
  type Kysely,
  type Selectable,
  type SelectQueryBuilder,
  sql,
} from 'kysely'
import type { Digest } from '../../crypto/digest.ts'
import type { Sealed } from '../../crypto/sealed.ts'
import type { TokenFields } from '../../model/token.ts'
import type { UserId } from '../../model/user.ts'
import { UniqueViolation } from '../contract/errors.ts'
import type {
  AuthorizedTokenRow,
  NewToken,
  PersonalTokenRow,
  StoredRotation,
  StoredToken,
  TokenStore,
  TokenWithNames,
  TokenWithState,
} from '../contract/tokens.ts'
import { countRows } from './count.ts'
import {
  byKey,
  flag,
  type Handle,
  holds,
  isAmong,
  joined,
  keyOf,
  lookup,
  onceFor,
  split,
  splitOrNull,
  unindexed,
} from './handle.ts'
import type { RotationValues, TokenValues } from './hot-paths.ts'
import { page, placeOf } from './page.ts'
import type { Tables } from './tables.ts'
import {
  isThere,
  isTrue,
  type JoinedUser,
  joinedUser,
  userColumns,
  userSource,
} from './user-source.ts'

/** A token with the ID of its client, which every read joins. */
export type TokenRow = Selectable<Tables['oauth2server_token']> & { readonly client_id: string }

const endsAt = ({ expires, refreshExpires }: Omit<TokenFields, 'id'>): number | null =>
  expires === null ? null : Math.max(expires, refreshExpires ?? 0)

const toRow = ({ fields, ...secrets }: NewToken): TokenValues => ({
  client_key: fields.clientKey,
  user_id: fields.userId,
  authorization_id: fields.authorizationId,
  token_type: fields.tokenType,
  access_token: secrets.accessToken,
  access_token_digest: secrets.accessDigest,
  refresh_token: secrets.refreshToken,
  refresh_token_digest: secrets.refreshDigest,
  expires: fields.expires,
  refresh_expires: fields.refreshExpires,
  ends_at: endsAt(fields),
  scopes: joined(fields.scopes),
  is_personal: flag(fields.isPersonal),
  is_internal: flag(fields.isInternal),
  created_at: fields.createdAt,
  successor_id: secrets.successorId,
  resources: joined(fields.resources),
  key_thumbprint: fields.keyThumbprint,
  parent_id: fields.parentId,
})

/** The row of a token as the records know it. */
export const fromRow = (row: TokenRow): StoredToken => ({
  fields: {
    id: row.id,
    clientId: row.client_id,
    clientKey: row.client_key,
    userId: row.user_id,
    authorizationId: row.authorization_id,
    tokenType: row.token_type as TokenFields['tokenType'],
    expires: row.expires,
    refreshExpires: row.refresh_expires,
    scopes: split(row.scopes),
    isPersonal: row.is_personal === 1,
    isInternal: row.is_internal === 1,
    createdAt: row.created_at,
    resources: split(row.resources),
    keyThumbprint: row.key_thumbprint,
    parentId: row.parent_id,
  },
  accessToken: row.access_token as Sealed,
  accessDigest: row.access_token_digest as Digest,
  refreshToken: row.refresh_token as Sealed | null,
  refreshDigest: row.refresh_token_digest as Digest | null,
  lastUse:
    row.last_used_at === null
      ? null
      : { at: row.last_used_at, address: row.last_used_address ?? '' },
  successorId: row.successor_id,
})

/** The row of a rotated refresh token as the records know it. */
export const rotationFromRow = (
  row: Selectable<Tables['oauth2server_rotated_refresh_token']>,
): StoredRotation => ({
  digest: row.digest as Digest,
  authorizationId: row.authorization_id,
  successor: row.successor as Digest,
  parameters: row.parameters,
  rotatedAt: row.rotated_at,
  seal: row.seal as Sealed,
})

const rotationToRow = (
  rotated: StoredRotation,
): Insertable<Tables['oauth2server_rotated_refresh_token']> => ({
  digest: rotated.digest,
  authorization_id: rotated.authorizationId,
  successor: rotated.successor,
  parameters: rotated.parameters,
  rotated_at: rotated.rotatedAt,
  seal: rotated.seal,
})

/** A rotation within a transaction. */
const rotateIn = async (
  tx: Kysely<Tables>,
  { id, authorizationId, current, next, rotated, endsAt }: RotationValues,
): Promise<boolean> => {
  // First, in the same order as a revocation. The update always writes the row, and so locks it.
  await tx
    .updateTable('oauth2server_authorization')
    .set((set) => ({
      expires_at: set
        .case()
        .when('expires_at', '<', endsAt)
        .then(endsAt)
        .else(set.ref('expires_at'))
        .end(),
    }))
    .where('id', '=', authorizationId)
    .execute()
  const { numUpdatedRows } = await tx
    .updateTable('oauth2server_token')
    .set(next)
    .where('id', '=', id)
    .where('refresh_token_digest', '=', current)
    .where('access_token_digest', '!=', next.access_token_digest)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await tx.deleteFrom('oauth2server_token').where('parent_id', '=', id).execute()
  await tx.insertInto('oauth2server_rotated_refresh_token').values(rotated).execute()
  return true
}

interface StateRow extends TokenRow, JoinedUser {
  readonly client_name: string
  readonly client_disabled: number
  readonly client_seal: string
  readonly client_scopes: string | null
  readonly owner_id: UserId | null
  readonly owner_active: number | boolean | null
}

const stateFromRow = (row: StateRow): TokenWithState => ({
  ...fromRow(row),
  client: {
    clientKey: row.client_key,
    clientId: row.client_id,
    name: row.client_name,
    ownerId: row.owner_id,
    ownerActive: row.owner_id === null || isTrue(row.owner_active),
    isDisabled: row.client_disabled === 1,
    allowedScopes: splitOrNull(row.client_scopes),
    stateSeal: row.client_seal as Sealed,
  },
  user: joinedUser(row),
})

const personalFromRow = (
  row: TokenRow & { readonly name: string; readonly previous_expires: number | null },
): PersonalTokenRow => ({ ...fromRow(row), name: row.name, previousExpires: row.previous_expires })

const authorizedFromRow = (
  row: TokenRow & {
    readonly granted: string
    readonly user_agent: string
    readonly granted_at: number
  },
): AuthorizedTokenRow => ({
  ...fromRow(row),
  authorization: {
    scopes: split(row.granted),
    userAgent: row.user_agent,
    createdAt: row.granted_at,
  },
})

const namedFromRow = (
  row: TokenRow & { readonly client_name: string; readonly user_email: string | null },
): TokenWithNames => ({ ...fromRow(row), clientName: row.client_name, userEmail: row.user_email })

/** Without a parameter, as in the index of these tokens. */
const isPersonal = sql<boolean>`t.is_personal = 1`

// From a join by the column itself PostgreSQL concludes that it is not null, and may walk along the index of those rows.
const authorizationId = sql`coalesce(${sql.ref('t.authorization_id')}, 0)`

/** Tokens whose use one statement writes at most. */
const touchedAtOnce = 250

export const sqlTokens = (handle: Handle): TokenStore => {
  const { read, write, purge, users, hot, locking } = handle
  // Every read begins here: the token of a deleted client or user does not exist.
  const withClient = read
    .selectFrom('oauth2server_token as t')
    .innerJoin('oauth2server_client as c', (join) =>
      join.on(byKey(handle, 'c.client_key', 't.client_key')),
    )
    .leftJoin(userSource(handle, 'o'), (join) => join.on(byKey(handle, 'o.id', 'c.user_id')))
    .leftJoin(userSource(handle, 'u'), (join) => join.on(byKey(handle, 'u.id', 't.user_id')))
    .selectAll('t')
    .select('c.client_id')
    .where(isThere(handle, 'c.user_id', 'o.id'))
    .where(isThere(handle, 't.user_id', 'u.id'))
    .where(
      sql<boolean>`(t.authorization_id is not null or t.is_personal = 1 or c.own_tokens_until is null or t.id > c.own_tokens_until or (select p.authorization_id from oauth2server_token as p where p.id = t.parent_id) is not null)`,
    )
  // Token, client, owner and user in one query: this is the bearer check.
  const withState = withClient
    .select(['c.name as client_name', 'c.is_disabled as client_disabled'])
    .select(['c.allowed_scopes as client_scopes', 'c.state_seal as client_seal'])
    .select(['c.user_id as owner_id', 'o.active as owner_active'])
    .select(userColumns)
  const stateOf = onceFor(stateFromRow)
  const byAccess = lookup(
    handle,
    'tokens.findByAccess',
    (match) => withState.where(match('t.access_token_digest')),
    (row) => row.access_token_digest,
  )
  const byRefresh = lookup(
    handle,
    'tokens.findByRefresh',
    (match) =>
      withState
        .innerJoin('oauth2server_authorization as a', (join) =>
          join.on(byKey(handle, 'a.id', authorizationId)),
        )
        .select(['a.scopes as granted', 'a.resources as granted_resources'])
        .select('a.created_at as granted_at')
        .where(match('t.refresh_token_digest')),
    (row) => row.refresh_token_digest ?? '',
  )

  const personal = (now: number) =>
    withClient
      .select('c.name')
      .select(({ selectFrom }) =>
        selectFrom('oauth2server_token as former')
          .select(({ fn }) => fn.max('former.expires').as('until'))
          .whereRef('former.successor_id', '=', 't.id')
          .where('former.expires', '>', now)
          .as('previous_expires'),
      )
      .where(isPersonal)
      .where('t.successor_id', 'is', null)
      .where('t.parent_id', 'is', null)

  const authorizedOf = (
    authorizations: AliasedExpression<Selectable<Tables['oauth2server_authorization']>, 'a'>,
  ) =>
    withClient
      .innerJoin(authorizations, 'a.id', 't.authorization_id')
      .select(['a.scopes as granted', 'a.user_agent', 'a.created_at as granted_at'])

  const deleteChildrenOf = async (
    // biome-ignore lint/suspicious/noExplicitAny: any query for IDs
    parents: SelectQueryBuilder<any, any, { id: number }>,
    limit: number,
  ): Promise<number> => {
    const children = read
      .selectFrom('oauth2server_token')
      .select('id')
      .where('parent_id', 'in', parents)
      .limit(limit)
    const { numDeletedRows } = await purge
      .deleteFrom('oauth2server_token')
      .where('id', 'in', children)
      .executeTakeFirst()
    return Number(numDeletedRows)
  }

  return {
    async findByAccess(digest) {
      const row = await byAccess(digest)
      return row && stateOf(row)
    },

    async findByRefresh(digest) {
      const row = await byRefresh(digest)
      if (!row) return undefined
      return {
        ...stateFromRow(row),
        authorization: {
          scopes: split(row.granted),
          resources: split(row.granted_resources),
          createdAt: row.granted_at,
        },
      }
    },

    async find(id) {
      const row = await withClient.where('t.id', '=', id).executeTakeFirst()
      return row && fromRow(row)
    },

    async hold(id) {
      const row = await withClient
        .where('t.id', '=', id)
        .$if(holds(handle), (q) => q.forNoKeyUpdate(['t']))
        .executeTakeFirst()
      return row && fromRow(row)
    },

    async insert(token) {
      if (hot) return hot.insertToken(toRow(token))
      const row = await write
        .insertInto('oauth2server_token')
        .values(toRow(token))
        .onConflict((c) => c.doNothing())
        .returning('id')
        .executeTakeFirst()
      return row?.id
    },

    async rotate({ id, next, rotated, isNarrowed, endsAt }) {
      const values: RotationValues = {
        id,
        authorizationId: rotated.authorizationId,
        current: rotated.digest,
        next: toRow(next),
        rotated: rotationToRow(rotated),
        endsAt,
      }
      // What the row itself holds is taken too, but no unique index says so.
      if (next.refreshDigest === rotated.digest) throw new UniqueViolation()
      const rotate = () => {
        // One statement sees nothing that was written while it waited: a token that is just being narrowed would stay.
        if (hot && isNarrowed && locking) return handle.transact((tx) => rotateIn(tx, values))
        return hot ? hot.rotate(values) : rotateIn(write, values)
      }
      if (await rotate()) return true
      const row = await write
        .selectFrom('oauth2server_token')
        .select('access_token_digest')
        .where('id', '=', id)
        .executeTakeFirst()
      if (row?.access_token_digest === next.accessDigest) throw new UniqueViolation()
      return false
    },

    async findRotated(digest) {
      const row = await read
        .selectFrom('oauth2server_rotated_refresh_token')
        .selectAll()
        .where('digest', '=', digest)
        .executeTakeFirst()
      return row && rotationFromRow(row)
    },

    async ofAuthorization(authorizationId) {
      const row = await withClient
        .where('t.authorization_id', '=', authorizationId)
        .$if(holds(handle), (q) => q.forNoKeyUpdate(['t']))
        .executeTakeFirst()
      return row && fromRow(row)
    },

    async ofClient(clientId) {
      const rows = await withClient
        .where('t.client_key', '=', keyOf(clientId))
        .$if(holds(handle), (q) => q.forNoKeyUpdate(['t']))
        .execute()
      return rows.map(fromRow)
    },

    async personalOf(userId, now, { after, limit }) {
      const place = placeOf(after)
      const rows = await personal(now)
        .where('t.user_id', '=', userId)
        .where('t.is_internal', '=', 0)
        .$if(place !== undefined, (q) => q.where('t.id', '<', place?.[0] ?? 0))
        // As its index has them.
        .orderBy('t.successor_id', 'desc')
        .orderBy('t.parent_id', 'desc')
        .orderBy('t.id', 'desc')
        .limit(limit + 1)
        .execute()
      return page(rows, limit, personalFromRow, ({ id }) => [id, ''])
    },

    async personal(id, now) {
      const row = await personal(now)
        .where('t.id', '=', id)
        .$if(holds(handle), (q) => q.forNoKeyUpdate(['t']))
        .executeTakeFirst()
      return row && personalFromRow(row)
    },

    countPersonalOf(userId, most) {
      return countRows(
        read,
        read
          .selectFrom('oauth2server_token as t')
          .select(sql.lit(1).as('one'))
          .where('t.user_id', '=', userId)
          .where(isPersonal)
          .where('t.is_internal', '=', 0)
          .where('t.successor_id', 'is', null)
          .where('t.parent_id', 'is', null)
          .limit(most),
      )
    },

    async deleteChildren(parentId) {
      await write.deleteFrom('oauth2server_token').where('parent_id', '=', parentId).execute()
    },

    async deletePrevious(successorId) {
      await write.deleteFrom('oauth2server_token').where('successor_id', '=', successorId).execute()
    },

    async authorizedOf(userId, clientIds, now, { limit, countLimit }) {
      if (clientIds.length === 0) return []
      // In the order of its index, and limited before anything is joined.
      const live = (clientId: string, most: number) =>
        read
          .selectFrom('oauth2server_authorization')
          .selectAll()
          .where('user_id', '=', userId)
          .where('client_key', '=', keyOf(clientId))
          .where('revoked_at', 'is', null)
          .where('expires_at', '>', now)
          .orderBy('revoked_at', 'desc')
          .orderBy('id', 'desc')
          .limit(most)
      const rows = await clientIds
        .map((clientId) =>
          authorizedOf(live(clientId, limit).as('a')).select(
            sql<number>`(select count(*) from (${live(clientId, countLimit)}) as limited)`.as(
              'count',
            ),
          ),
        )
        .reduce((all, more) => all.unionAll(more))
        .execute()
      return rows
        .map((row) => ({ ...authorizedFromRow(row), count: Number(row.count) }))
        .sort((a, b) => (b.fields.authorizationId ?? 0) - (a.fields.authorizationId ?? 0))
    },

    async authorized(id, now) {
      const row = await withClient
        .innerJoin('oauth2server_authorization as a', (join) =>
          join.on(byKey(handle, 'a.id', authorizationId)),
        )
        .select(['a.scopes as granted', 'a.user_agent', 'a.created_at as granted_at'])
        .where('t.id', '=', id)
        .where(unindexed('a.revoked_at'), 'is', null)
        .where(unindexed('a.expires_at'), '>', now)
        .executeTakeFirst()
      return row && authorizedFromRow(row)
    },

    async search(text, { after, limit }) {
      const place = placeOf(after)
      const rows = await withClient
        .select(['c.name as client_name', 'u.email as user_email'])
        .where('t.successor_id', 'is', null)
        .$if(text !== '', (q) => {
          if (/^\d{1,15}$/.test(text)) return q.where('t.id', '=', Number(text))
          if (!text.includes('@')) return q.where('t.client_key', '=', keyOf(text))
          // Ours are kept in lower case, and so found by their index; how a host writes its own, nobody knows.
          const email = users === 'built-in' ? sql.ref('s.email') : sql`lower(s.email)`
          const named = read
            .selectFrom(userSource(handle, 's'))
            .select('s.id')
            .where(sql<boolean>`${email} = ${text.toLowerCase()}`)
          return q.where(isAmong(handle, 't.user_id', named))
        })
        .$if(place !== undefined, (q) => q.where('t.id', '<', place?.[0] ?? 0))
        .orderBy('t.id', 'desc')
        .limit(limit + 1)
        .execute()
      return page(rows, limit, namedFromRow, ({ id }) => [id, ''])
    },

    async rewrite(id, token) {
      await write.updateTable('oauth2server_token').set(toRow(token)).where('id', '=', id).execute()
    },

    async touch(uses) {
      // In one order, so that no two nodes wait for each other.
      const all = [...uses].sort(([one], [other]) => one - other)
      for (let from = 0; from < all.length; from += touchedAtOnce) {
        const rows = all
          .slice(from, from + touchedAtOnce)
          .map(
            ([id, { at, address }]) =>
              sql`(cast(${id} as bigint), cast(${at} as bigint), cast(${address} as text))`,
          )
        // A token that is locked misses this use rather than delay the requests for all others.
        const free = locking
          ? sql`and oauth2server_token.id in (select t.id from oauth2server_token as t
              where t.id = any(array(select id from used)) for no key update skip locked)`
          : sql``
        await sql`
          with used (id, at, address) as (values ${sql.join(rows)})
          update oauth2server_token set last_used_at = used.at, last_used_address = used.address
          from used where ${byKey(handle, 'oauth2server_token.id', 'used.id')} ${free}
          and (last_used_at is null or last_used_at < used.at)`.execute(write)
      }
    },

    async personalNamed(userId, name) {
      const rows = await withClient
        .where('t.user_id', '=', userId)
        .where(isPersonal)
        .where('t.successor_id', 'is', null)
        .where('t.parent_id', 'is', null)
        .where('c.name', '=', name)
        .execute()
      return rows.map(({ id }) => id)
    },

    async delete(id) {
      const { numDeletedRows } = await write
        .deleteFrom('oauth2server_token')
        .where('id', '=', id)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },

    async deleteExpired(now, limit) {
      // In the order of its index, and bounded before anything else is asked: a million of them is as quick as one.
      const expired = read
        .selectFrom('oauth2server_token')
        .select(['id', 'client_key', 'is_personal'])
        .where('ends_at', '<=', now)
        .orderBy('ends_at')
        .limit(limit)
        .as('expired')
      const personal = read
        .selectFrom(expired)
        .select('expired.client_key')
        .where('expired.is_personal', '=', 1)
      const hasLiveToken = (client: string) =>
        sql<boolean>`exists (select 1 from oauth2server_token as live where live.client_key = ${sql.ref(client)} and (live.ends_at is null or live.ends_at > ${now}))`
      // The client behind a personal token exists for that token alone: it goes first, since only the token leads to it.
      await purge
        .deleteFrom('oauth2server_client')
        .where('is_personal', '=', 1)
        .where('client_key', 'in', personal)
        .where(({ not }) => not(hasLiveToken('oauth2server_client.client_key')))
        .execute()
      const ids = read.selectFrom(expired).select('expired.id')
      // What was narrowed from them would go along, however much it is.
      const children = await deleteChildrenOf(ids, limit)
      if (children === limit) return children
      const { numDeletedRows: tokens } = await purge
        .deleteFrom('oauth2server_token')
        .where('id', 'in', ids)
        // Again: it may have been refreshed while this waited for it.
        .where('ends_at', '<=', now)
        .executeTakeFirst()
      return Number(tokens) + children
    },

    async deleteRotated(authorizationId, { before, keep, limit }) {
      const rotated = read
        .selectFrom('oauth2server_rotated_refresh_token')
        .where('authorization_id', '=', authorizationId)
      const beyond = await rotated
        .select('rotated_at')
        .orderBy('rotated_at', 'desc')
        .limit(1)
        .offset(keep)
        .executeTakeFirst()
      const some = rotated
        .select('digest')
        .where('rotated_at', '<=', Math.max(before, beyond?.rotated_at ?? before))
        .orderBy('rotated_at')
        .limit(limit)
      const { numDeletedRows } = await purge
        .deleteFrom('oauth2server_rotated_refresh_token')
        .where('digest', 'in', some)
        .executeTakeFirst()
      return Number(numDeletedRows)
    },

    async deleteOldestOwn({ clientKey, userId }, { keep, limit }) {
      const ofClient = purge
        .selectFrom('oauth2server_token')
        .select('id')
        .where('user_id', userId === null ? 'is' : '=', userId)
        .where('client_key', '=', clientKey)
      // All of the owner's with this client: the index alone says so, and hardly any are not the client's own.
      const beyond = await ofClient
        .orderBy('user_id', 'desc')
        .orderBy('client_key', 'desc')
        .orderBy('id', 'desc')
        .limit(1)
        .offset(keep)
        .executeTakeFirst()
      if (!beyond) return 0
      const some = ofClient
        .where('id', '<=', beyond.id)
        .where('authorization_id', 'is', null)
        .where('parent_id', 'is', null)
        .where('is_personal', '=', 0)
        .orderBy('user_id')
        .orderBy('client_key')
        .orderBy('id')
        .limit(limit)
      const narrowed = await deleteChildrenOf(some, limit)
      if (narrowed === limit) return narrowed
      const { numDeletedRows } = await purge
        .deleteFrom('oauth2server_token')
        .where('id', 'in', some)
        .executeTakeFirst()
      return Number(numDeletedRows) + narrowed
    },

    async deleteOldestChildren(parentId, { keep, limit }) {
      const children = purge
        .selectFrom('oauth2server_token')
        .select('id')
        .where('parent_id', '=', parentId)
      const beyond = await children.orderBy('id', 'desc').limit(1).offset(keep).executeTakeFirst()
      if (!beyond) return 0
      const some = children.where('id', '<=', beyond.id).orderBy('id').limit(limit)
      const { numDeletedRows } = await purge
        .deleteFrom('oauth2server_token')
        .where('id', 'in', some)
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}
