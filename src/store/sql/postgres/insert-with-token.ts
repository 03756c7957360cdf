import { sql } from 'kysely'
import { authorizationCodec } from '../../../model/entities/authorization.ts'
import type { SqlType } from '../../../model/entities/field.ts'
import { tokenCodec } from '../../../model/entities/token.ts'
import type { ReservedIds } from '../../../model/redemption.ts'
import type { AuthorizedToken } from '../../contract/authorizations.ts'
import { auditColumnNames, toRow as toAuditRow } from '../audit.ts'
import { grantOf } from '../grant.ts'
import type { TableHandle } from '../handle.ts'

/** Returns the only parameter of the statement: all values as one JSON text. */
export const parametersOf = (
  { authorization, tokenOf, eventOf, consent, sessionId, most }: AuthorizedToken,
  ids: ReservedIds,
): string =>
  JSON.stringify({
    new_authorization: { id: ids.authorizationId, ...authorizationCodec.toRow(authorization) },
    new_token: { id: ids.tokenId, ...tokenCodec.toRow(tokenOf(ids.authorizationId)) },
    event: toAuditRow(eventOf(ids)),
    consent_id: consent.id,
    consent_scopes: consent.scopes,
    session_id: sessionId,
    most,
  })

/**
 * Returns the statement that inserts an authorization with its token and event, if the user is active. It locks the
 * consent and the session in share mode, like the transaction, so that concurrent exchanges of a user do not wait for
 * each other.
 */
export const insertWithTokenStatement = (handle: TableHandle): string => {
  const record = (name: string, columns: Readonly<Record<string, SqlType>>): string => {
    const typed = Object.entries(columns).map(
      ([column, type]) => `${column} ${type === 'userKey' ? handle.types.userKey : type}`,
    )
    return `${name} as materialized (
      select * from json_to_record(($1::json) -> '${name}') as ${name} (id bigint, ${typed.join(', ')})
    )`
  }
  const given = (name: string) => sql.raw<never>(`(select ${name} from given)`)
  const { consent, session } = grantOf(handle, {
    userId: sql.raw<never>('(select user_id from new_authorization)'),
    clientKey: sql.raw<never>('(select client_key from new_authorization)'),
    consentId: given('consent_id'),
    sessionId: given('session_id'),
  })
  const covering = consent.where(
    sql<boolean>`string_to_array(s.scopes, ' ') @> ${given('consent_scopes')}`,
  )
  const names = authorizationCodec.columns.join(', ')
  const tokenNames = tokenCodec.columns.join(', ')
  const eventNames = auditColumnNames.join(', ')
  // The order of the index `authorization_by_user`, so that the database does not sort the rows.
  const { sql: text } = sql`with given as materialized (
      select * from json_to_record($1::json) as given (consent_id text, consent_scopes text[], session_id text, most integer)
    ), ${sql.raw(record('new_authorization', authorizationCodec.types))},
    ${sql.raw(record('new_token', tokenCodec.types))},
    consent as materialized (${covering.forShare(['s'])}),
    session as materialized (${session.forShare(['s'])}),
    inserted as (
      insert into oauth2server_authorization (id, ${sql.raw(names)})
      select id, ${sql.raw(names)} from new_authorization as n
      where exists (select from consent)
      and (${given('session_id')} is null or exists (select from session))
      and not exists (
        select from oauth2server_authorization as a
        where a.user_id = n.user_id and a.client_key = n.client_key and a.revoked_at is null
        order by a.revoked_at desc, a.id desc limit 1 offset ${given('most')} - 1
      )
      on conflict (code_digest) do nothing returning id
    ), token as (
      insert into oauth2server_token (id, ${sql.raw(tokenNames)})
      select id, ${sql.raw(tokenNames)} from new_token where exists (select from inserted) returning id
    ), event as (
      insert into oauth2server_audit (${sql.raw(eventNames)})
      select ${sql.raw(eventNames)} from json_populate_record(null::oauth2server_audit, ($1::json) -> 'event')
      where exists (select from token)
    )
    select id from token`.compile(handle.read)
  return text
}
