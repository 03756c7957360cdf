import { type Kysely, type RawBuilder, sql } from 'kysely'
import { split } from '../../../model/entities/field.ts'
import { tokenCodec } from '../../../model/entities/token.ts'
import { ClientChanged, UniqueViolation } from '../../contract/errors.ts'
import type { TokenLists, TokenStore } from '../../contract/tokens.ts'
import { byKey, type Handle, keyOf, prepared, valuesOf } from '../handle.ts'
import { listed } from '../listed.ts'
import { readsOf, rowsOf } from '../rows.ts'
import type { Tables } from '../tables.ts'
import { fromRow, liveTokens } from './base-query.ts'
import { tokenCleanup } from './cleanup.ts'
import { listedTokens } from './listed.ts'
import { isPersonal, personalTokens } from './personal.ts'
import {
  afterReplacement,
  type RotationStatement,
  type RotationValues,
  replacePair,
} from './rotation.ts'
import { tokenStates } from './state.ts'

/** The maximum number of tokens that one statement of `touch` or `noteScopes` updates. */
const maxUsesPerStatement = 250

export const sqlTokens = (handle: Handle): TokenStore => {
  const { read, write, hot, locking, transact } = handle
  // Built when a statement is built: most transactions run only statements that are compiled already.
  const tokens = () => liveTokens(handle)
  const insert = prepared(
    handle,
    write,
    'tokens.insert',
    (...values) =>
      write
        .insertInto('oauth2server_token')
        .values(valuesOf(tokenCodec.columns, values))
        .onConflict((c) => c.doNothing())
        .returning('id'),
    tokenCodec.columns.length,
  )
  const { delete: deleteTokens } = rowsOf(handle, tokenCodec)
  const { personalList, ...others } = personalTokens(handle, tokens)
  const { matchingList, ...authorized } = listedTokens(handle, tokens)
  return {
    ...readsOf(handle, {
      ...tokenCodec,
      alias: 't',
      query: tokens,
      fromRow,
      own: {
        clientId: (clientId) => sql`t.client_key = ${keyOf(clientId)}`,
        name: (name) => sql`${isPersonal} and c.name = ${name}`,
      },
    }),
    ...tokenStates(handle, tokens),
    ...others,
    ...authorized,
    ...tokenCleanup(handle),

    ...listed<TokenLists>(read, ['t.id'], { personal: personalList, matching: matchingList }),

    async insert(token, clientVersion) {
      if (hot) return hot.insertToken(token, clientVersion)
      if (clientVersion !== undefined) throw new ClientChanged()
      const { rows } = await insert(...tokenCodec.toCells(token))
      return rows[0]?.id
    },

    async restore(id, token) {
      const row = await write
        .insertInto('oauth2server_token')
        .values({ id, ...tokenCodec.toRow(token) })
        .onConflict((c) => c.doNothing())
        .returning('id')
        .executeTakeFirst()
      if (!row) throw new UniqueViolation()
    },

    async rotate({ id, replaced, next, rotated, mayBeExchanged, endsAt }) {
      const rotation: RotationValues = {
        id,
        current: rotated.digest,
        replacedDigest: replaced.accessDigest,
        replacedExpires: replaced.expires,
        next,
        rotated,
        endsAt,
      }
      // If a new digest equals the replaced digest in the same row, a unique index does not detect the collision.
      if (next.refreshDigest === rotated.digest || next.accessDigest === replaced.accessDigest)
        throw new UniqueViolation()
      const rotate = () => {
        // If concurrent requests may exchange the access token, rotate in a transaction. A single statement does not
        // see rows that were written while it waited for a lock, so it would not delete the exchanged token. The later
        // statements of a transaction see and delete that token.
        if (hot && mayBeExchanged && locking)
          return transact((tx) => rotateIn(handle, tx, rotation))
        return hot ? hot.rotate(rotation) : rotateIn(handle, write, rotation)
      }
      return rotate()
    },

    async rewrite(id, token) {
      const cells = tokenCodec.toReplacedCells(token)
      const values = tokenCodec.replacedColumns.map(
        (name, at) => sql`${sql.ref(name)} = ${cells[at]}`,
      )
      await sql`update oauth2server_token set ${sql.join(values)} where id = ${id}`.execute(write)
    },

    async touch(uses) {
      // Update in the order of the IDs, so that two nodes do not deadlock.
      const all = [...uses].sort(([one], [other]) => one - other)
      for (let from = 0; from < all.length; from += maxUsesPerStatement) {
        const rows = all
          .slice(from, from + maxUsesPerStatement)
          .map(
            ([id, { at, address }]) =>
              sql`(cast(${id} as bigint), cast(${at} as bigint), cast(${address} as text))`,
          )
        // Skip locked tokens. A waiting statement would block requests for the tokens that it has already locked.
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

    async noteScopes(scopes) {
      const ids = [...scopes.keys()].sort((one, other) => one - other)
      const stored: number[] = []
      for (let from = 0; from < ids.length; from += maxUsesPerStatement) {
        const rows = await write
          .selectFrom('oauth2server_token')
          .select(['id', 'used_scopes'])
          .where('id', 'in', ids.slice(from, from + maxUsesPerStatement))
          .orderBy('id')
          // Skip locked tokens. A waiting statement would block requests for the tokens that it has already locked.
          .$if(locking, (q) => q.forNoKeyUpdate().skipLocked())
          .execute()
        const changes = rows.map(({ id, used_scopes: before }) => {
          const all = new Set([...split(before), ...(scopes.get(id) ?? [])])
          return { id, before, after: [...all].sort().join(' ') }
        })
        const changed = changes.filter(({ before, after }) => before !== after)
        if (changed.length > 0) {
          const values = changed.map(
            ({ id, after }) => sql`(cast(${id} as bigint), cast(${after} as text))`,
          )
          await sql`
            with used (id, scopes) as (values ${sql.join(values)})
            update oauth2server_token set used_scopes = used.scopes
            from used where ${byKey(handle, 'oauth2server_token.id', 'used.id')}`.execute(write)
        }
        stored.push(...rows.map(({ id }) => id))
      }
      return stored
    },

    delete: deleteTokens,
  }
}

/** Locks the authorization before its tokens, like `revoke`, to avoid a deadlock. */
const lockAuthorization: RotationStatement = {
  text: 'select id from oauth2server_authorization where id = ? for no key update',
  parametersOf: ({ next }) => [next.fields.authorizationId],
}

/** Rotates within a transaction. Returns false without a change if the conditions are not met. */
const rotateIn = async (
  handle: Parameters<typeof prepared>[0],
  tx: Kysely<Tables>,
  rotation: RotationValues,
): Promise<boolean> => {
  const run = ({ text, parametersOf }: RotationStatement) => {
    const values = parametersOf(rotation)
    const parts = text.split('?')
    const build = (...placeholders: RawBuilder<never>[]) =>
      sql(Object.assign(parts, { raw: parts }), ...placeholders)
    return prepared(handle, tx, text, build, values.length)(...values)
  }
  if (handle.locking) await run(lockAuthorization)
  const { numAffectedRows } = await run(replacePair)
  if (!numAffectedRows) return false
  for (const statement of afterReplacement) await run(statement)
  return true
}
