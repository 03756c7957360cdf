import { sql } from 'kysely'
import { auditCodec } from '../../../model/entities/audit-event.ts'
import { authorizationCodec } from '../../../model/entities/authorization.ts'
import { clientLoginCodec } from '../../../model/entities/client-login.ts'
import { tokenCodec } from '../../../model/entities/token.ts'
import type { ReservedIds } from '../../../model/redemption.ts'
import type { AuthorizedToken } from '../../contract/authorizations.ts'
import { UniqueViolation } from '../../contract/errors.ts'
import { liveConsents } from '../consents.ts'
import type { TableHandle } from '../handle.ts'
import { liveSessions } from '../sessions.ts'
import { isActive } from '../user-source.ts'
import type { SqliteDatabase } from './database.ts'

/** Returns the statement that inserts a row. Its parameters are the values of the columns. */
export const insertInto = (table: string, columns: readonly string[]): string =>
  `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`

export const insertToken = `${insertInto('oauth2server_token', tokenCodec.columns)} on conflict do nothing`
const insertLogin = insertInto(clientLoginCodec.table, clientLoginCodec.columns)
const insertEvent = insertInto(auditCodec.table, auditCodec.columns)

/**
 * Returns the function that inserts an authorization with its token and its event, in a transaction that holds the write
 * lock. The function returns undefined without effect if the code was redeemed or a condition is not met.
 */
export const insertsWithToken = (
  handle: TableHandle,
  writer: Pick<SqliteDatabase, 'insert'>,
): ((rows: AuthorizedToken) => ReservedIds | undefined) => {
  const { columns } = authorizationCodec
  const parameters = [...columns, 'consent_id', 'consent_scopes', 'session_id', 'most']
  const given = (name: string) => sql.raw<never>(`?${parameters.indexOf(name) + 1}`)
  const consent = liveConsents(handle)
    .clearSelect()
    .select('s.id')
    .where('s.user_id', '=', given('user_id'))
    .where('s.client_key', '=', given('client_key'))
    .where('s.id', '=', given('consent_id'))
    .where(isActive(handle))
    .where(
      sql<boolean>`not exists (
        select 1 from json_each(${given('consent_scopes')}) as asked
        where instr(' ' || s.scopes || ' ', ' ' || asked.value || ' ') = 0
      )`,
    )
  const session = liveSessions(handle).select('s.id').where('s.id', '=', given('session_id'))
  // The order of the index `authorization_by_user`, so that the database does not sort the rows.
  const insertAuthorization = sql`
    insert into oauth2server_authorization (${sql.raw(columns.join(', '))})
    select ${sql.join(columns.map(given))}
    where exists ${consent}
    and (${given('session_id')} is null or exists ${session})
    and not exists (
      select 1 from oauth2server_authorization as a
      where a.user_id = ${given('user_id')} and a.client_key = ${given('client_key')} and a.revoked_at is null
      order by a.revoked_at desc, a.id desc limit 1 offset ${given('most')} - 1
    )
    on conflict (code_digest) do nothing`.compile(handle.read).sql
  return ({ authorization, tokenOf, eventOf, login, consent, sessionId, most }) => {
    const values = authorizationCodec.toCells(authorization)
    const scopes = JSON.stringify(consent.scopes)
    const conditions = [consent.id, scopes, sessionId, most]
    const authorizationId = writer.insert(insertAuthorization, [...values, ...conditions])
    if (authorizationId === undefined) return undefined
    const tokenId = writer.insert(insertToken, tokenCodec.toCells(tokenOf(authorizationId)))
    if (tokenId === undefined) throw new UniqueViolation()
    const ids = { authorizationId, tokenId }
    if (login) writer.insert(insertLogin, clientLoginCodec.toCells({ ...login, authorizationId }))
    writer.insert(insertEvent, auditCodec.toCells(eventOf(ids)))
    return ids
  }
}
