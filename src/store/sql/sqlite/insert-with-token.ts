import { sql } from 'kysely'
import { authorizationCodec } from '../../../model/entities/authorization.ts'
import { clientLoginCodec } from '../../../model/entities/client-login.ts'
import { tokenCodec } from '../../../model/entities/token.ts'
import type { ReservedIds } from '../../../model/redemption.ts'
import type { AuthorizedToken } from '../../contract/authorizations.ts'
import { UniqueViolation } from '../../contract/errors.ts'
import { auditColumnNames, toRow as toAuditRow } from '../audit.ts'
import { liveConsents } from '../consents.ts'
import type { TableHandle } from '../handle.ts'
import { liveSessions } from '../sessions.ts'
import { isActive } from '../user-source.ts'
import type { SqliteDatabase } from './database.ts'

/** Returns the statement that inserts a row. Its parameters are the values of the columns. */
export const insertInto = (table: string, columns: readonly string[]): string =>
  `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`

export const insertToken = `${insertInto('oauth2server_token', tokenCodec.columns)} on conflict do nothing returning id`
const insertLogin = insertInto(clientLoginCodec.table, clientLoginCodec.columns)
const insertEvent = insertInto('oauth2server_audit', auditColumnNames)

/**
 * Returns the function that inserts an authorization with its token and its event, in a transaction that holds the write
 * lock. The function returns undefined without effect if the code was redeemed or a condition is not met.
 */
export const insertsWithToken = (
  handle: TableHandle,
  writer: Pick<SqliteDatabase, 'now'>,
): ((rows: AuthorizedToken) => ReservedIds | undefined) => {
  const given = (name: string) => sql.raw<never>(`(select ${name} from given)`)
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
  const { columns } = authorizationCodec
  const names = columns.join(', ')
  // The order of the index `authorization_by_user`, so that the database does not sort the rows.
  const insertAuthorization = sql`
    with given (${sql.raw(names)}, consent_id, consent_scopes, session_id, most) as materialized (
      select ${sql.raw(columns.map(() => '?').join(', '))}, ?, ?, ?, ?
    )
    insert into oauth2server_authorization (${sql.raw(names)})
    select ${sql.raw(names)} from given as n
    where exists ${consent}
    and (session_id is null or exists ${session})
    and not exists (
      select 1 from oauth2server_authorization as a
      where a.user_id = n.user_id and a.client_key = n.client_key and a.revoked_at is null
      order by a.revoked_at desc, a.id desc limit 1 offset ${given('most')} - 1
    )
    on conflict (code_digest) do nothing returning id`.compile(handle.read).sql
  return ({ authorization, tokenOf, eventOf, login, consent, sessionId, most }) => {
    const values = authorizationCodec.toCells(authorization)
    const scopes = JSON.stringify(consent.scopes)
    const conditions = [consent.id, scopes, sessionId, most]
    const inserted = writer.now(insertAuthorization, [...values, ...conditions]).rows[0]
    if (!inserted) return undefined
    const authorizationId = inserted.id as number
    const token = tokenCodec.toCells(tokenOf(authorizationId))
    const tokenId = writer.now(insertToken, token).rows[0]?.id
    if (tokenId === undefined) throw new UniqueViolation()
    const ids = { authorizationId, tokenId: tokenId as number }
    if (login) {
      writer.now(insertLogin, clientLoginCodec.toCells({ ...login, authorizationId }))
    }
    const event = toAuditRow(eventOf(ids))
    writer.now(
      insertEvent,
      auditColumnNames.map((name) => event[name]),
    )
    return ids
  }
}
