import { type AliasedExpression, type RawBuilder, type Selectable, sql } from 'kysely'
import { emailSpellings, heldEmail } from '../../../model/email-address.ts'
import { split } from '../../../model/entities/field.ts'
import type {
  AuthorizedTokenRow,
  TokenLists,
  TokenStore,
  TokenSummary,
  TokenWithNames,
} from '../../contract/tokens.ts'
import { byKey, type Handle, isAmong, keyOf, unindexed } from '../handle.ts'
import type { ListQueries } from '../listed.ts'
import type { Tables } from '../tables.ts'
import { userSource } from '../user-source.ts'
import { authorizationId, fromRow, type JoinedToken, type LiveTokens } from './base-query.ts'

const authorizedFromRow = (
  row: JoinedToken & {
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
  row: JoinedToken & { readonly client_name: string; readonly user_email: string | null },
): TokenWithNames => ({ ...fromRow(row), clientName: row.client_name, userEmail: heldOf(row) })

const heldOf = ({ user_email: email }: { readonly user_email: string | null }): string | null =>
  email === null ? null : heldEmail(email)

const summaryFromRow = (
  row: Pick<
    JoinedToken,
    | 'id'
    | 'client_id'
    | 'is_personal'
    | 'user_id'
    | 'scopes'
    | 'created_at'
    | 'expires'
    | 'last_used_at'
    | 'refresh_token_digest'
  > & { readonly client_name: string; readonly user_email: string | null },
): TokenSummary => ({
  id: row.id,
  clientId: row.client_id,
  clientName: row.client_name,
  isPersonal: row.is_personal === 1,
  isRefreshable: row.refresh_token_digest !== null,
  userId: row.user_id,
  userEmail: heldOf(row),
  scopes: split(row.scopes),
  createdAt: row.created_at,
  expires: row.expires,
  lastUsedAt: row.last_used_at,
})

/** Lists the tokens of the applications that a user has authorized, and all tokens for administrators. */
export const listedTokens = (
  handle: Handle,
  tokens: () => LiveTokens,
): Pick<TokenStore, 'authorizedOf' | 'authorized'> & {
  readonly matchingList: ListQueries<TokenLists['matching']>
} => {
  const { read, users } = handle
  const authorizedOf = (
    authorizations: AliasedExpression<Selectable<Tables['oauth2server_authorization']>, 'a'>,
  ) =>
    tokens()
      .innerJoin(authorizations, 'a.id', 't.authorization_id')
      .select(['a.scopes as granted', 'a.user_agent', 'a.created_at as granted_at'])

  /** Builds the condition for a token ID, a client ID or the e-mail address of a user. An empty text matches all. */
  const isMatching = (text: string): RawBuilder<boolean> => {
    if (text === '') return sql`1 = 1`
    if (/^\d{1,15}$/.test(text)) return sql`t.id = ${Number(text)}`
    if (!text.includes('@')) return sql`t.client_key = ${keyOf(text)}`
    // The built-in table stores e-mail addresses in normal form, so the query can use their index. The table of an
    // application may contain upper case.
    const email = users === 'built-in' ? sql.ref('s.email') : sql`lower(s.email)`
    const named = read
      .selectFrom(userSource(handle, 's'))
      .select('s.id')
      .where(
        sql<boolean>`${email} in (${sql.join([...new Set([text.toLowerCase(), ...emailSpellings(text)])])})`,
      )
    return isAmong(handle, 't.user_id', named)
  }

  // Use a literal instead of a parameter, so that the query can use the partial index of personal tokens.
  const personal = () =>
    read.selectFrom('oauth2server_token').select('id').where(sql<boolean>`is_personal = 1`)
  const matching = ({ text, isPersonal }: TokenLists['matching']['where']) =>
    tokens()
      .where('t.successor_id', 'is', null)
      .where(isMatching(text))
      .$if(isPersonal === true, (q) =>
        q.where(
          text === '' ? isAmong(handle, 't.id', personal()) : sql<boolean>`t.is_personal = 1`,
        ),
      )

  return {
    async authorizedOf(userId, clientIds, now, { limit, countLimit }) {
      if (clientIds.length === 0) return []
      // Limit the rows in the order of the index before the joins, so that only the listed rows are joined.
      const live = (clientId: string, max: number) =>
        read
          .selectFrom('oauth2server_authorization')
          .selectAll()
          .where('user_id', '=', userId)
          .where('client_key', '=', keyOf(clientId))
          .where('revoked_at', 'is', null)
          .where('expires_at', '>', now)
          .orderBy('revoked_at', 'desc')
          .orderBy('id', 'desc')
          .limit(max)
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
      const row = await tokens()
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

    matchingList: {
      rows: (where) => matching(where).select(['c.name as client_name', 'u.email as user_email']),
      fromRow: namedFromRow,
      summaries: (where) =>
        matching(where)
          .clearSelect()
          .select(['t.id', 'c.client_id', 'c.name as client_name', 't.is_personal'])
          .select(['t.user_id', 'u.email as user_email', 't.scopes', 't.created_at'])
          .select(['t.expires', 't.last_used_at', 't.refresh_token_digest']),
      summaryFromRow,
    },
  }
}
