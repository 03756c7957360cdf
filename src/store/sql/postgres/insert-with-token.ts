import { sql } from 'kysely'
import { authorizationCodec } from '../../../model/entities/authorization.ts'
import { clientLoginCodec } from '../../../model/entities/client-login.ts'
import type { SqlType } from '../../../model/entities/field.ts'
import { tokenCodec } from '../../../model/entities/token.ts'
import type { ReservedIds } from '../../../model/redemption.ts'
import type { UserId } from '../../../model/user.ts'
import type { AuthorizedToken } from '../../contract/authorizations.ts'
import { auditColumnNames, toRow as toAuditRow } from '../audit.ts'
import { liveConsents } from '../consents.ts'
import { byKey, type TableHandle } from '../handle.ts'
import { liveSessions } from '../sessions.ts'
import { isActive } from '../user-source.ts'

/** The rows of a new authorization with their IDs. */
export type RowsToInsert = AuthorizedToken & { readonly ids: ReservedIds }

/** Returns the parameters of the statement: the rows of each table as a JSON text, and the limit of authorizations. */
export const parametersOf = (all: readonly RowsToInsert[]): readonly unknown[] => [
  JSON.stringify(
    all.map(({ ids, authorization, consent, sessionId }) => ({
      id: ids.authorizationId,
      ...authorizationCodec.toRow(authorization),
      consent_id: consent.id,
      consent_scopes: consent.scopes,
      session_id: sessionId,
    })),
  ),
  JSON.stringify(
    all.map(({ ids, tokenOf }) => ({
      id: ids.tokenId,
      ...tokenCodec.toRow(tokenOf(ids.authorizationId)),
    })),
  ),
  JSON.stringify(all.map(({ ids, eventOf }) => toAuditRow(eventOf(ids)))),
  JSON.stringify(
    all.flatMap(({ ids: { authorizationId }, login }) =>
      login ? clientLoginCodec.toRow({ ...login, authorizationId }) : [],
    ),
  ),
  Math.min(...all.map(({ most }) => most)),
]

/**
 * Returns the statement that inserts authorizations with their tokens and events, if their users are active. It locks
 * the consents and sessions in share mode, like the transaction, so that concurrent exchanges of a user do not wait for
 * each other. The statement returns the IDs of the inserted tokens.
 * @param options.freeUsers the query for the unlocked users; undefined without a foreign key to the users
 * @param options.isWaiting whether to wait for locked rows, instead of leaving out the authorizations
 */
export const insertWithTokenStatement = (
  handle: TableHandle,
  { freeUsers, isWaiting }: { readonly freeUsers: string | undefined; readonly isWaiting: boolean },
): string => {
  const record = (parameter: number, columns: Readonly<Record<string, SqlType | 'text[]'>>) => {
    const typed = Object.entries(columns).map(
      ([column, type]) => `${column} ${type === 'userKey' ? handle.types.userKey : type}`,
    )
    return sql.raw(
      `select * from json_to_recordset($${parameter}) as given (id bigint, ${typed.join(', ')})`,
    )
  }
  const given = sql<GivenRow>`given`.as('g')
  const consents = liveConsents(handle)
    .clearSelect()
    .innerJoin(given, (join) =>
      join
        .on(byKey(handle, 's.user_id', 'g.user_id'))
        .on(byKey(handle, 's.client_key', 'g.client_key'))
        .onRef('s.id', '=', 'g.consent_id')
        .on(sql<boolean>`string_to_array(s.scopes, ' ') @> g.consent_scopes`),
    )
    .select('g.id')
    .where(isActive(handle))
    .forShare(['s'])
    .$if(!isWaiting, (q) => q.skipLocked())
  const sessions = liveSessions(handle)
    .innerJoin(given, (join) => join.on(byKey(handle, 's.id', 'g.session_id')))
    .select('g.id')
    .forShare(['s'])
    .$if(!isWaiting, (q) => q.skipLocked())
  const names = sql.raw(authorizationCodec.columns.join(', '))
  const tokenNames = sql.raw(tokenCodec.columns.join(', '))
  const loginNames = sql.raw(clientLoginCodec.columns.join(', '))
  const eventNames = sql.raw(auditColumnNames.join(', '))
  const isFree =
    isWaiting || freeUsers === undefined ? sql`true` : sql`user_id in (${sql.raw(freeUsers)})`
  // The order of the index `authorization_by_user`, so that the database does not sort the rows.
  const oldest = sql`order by a.revoked_at desc, a.id desc limit 1 offset $5::integer - 1`
  // Two statements must insert the same codes in the same order, because each waits for the codes of the other.
  const { sql: text } = sql`with given as materialized (${record(1, {
    ...authorizationCodec.types,
    consent_id: 'text',
    consent_scopes: 'text[]',
    session_id: 'text',
  })}),
    new_token as materialized (${record(2, tokenCodec.types)}),
    consents as materialized ${consents},
    sessions as materialized ${sessions},
    inserted as (
      insert into oauth2server_authorization (id, ${names})
      select id, ${names} from given as n
      where id in (select id from consents)
      and (session_id is null or id in (select id from sessions))
      and ${isFree}
      and not exists (
        select from oauth2server_authorization as a
        where a.user_id = n.user_id and a.client_key = n.client_key and a.revoked_at is null
        ${oldest}
      )
      order by code_digest
      on conflict (code_digest) do nothing returning id
    ), tokens as (
      insert into oauth2server_token (id, ${tokenNames})
      select id, ${tokenNames} from new_token
      where authorization_id in (select id from inserted) returning id
    ), logins as (
      insert into oauth2server_client_login (${loginNames})
      select ${loginNames} from json_populate_recordset(null::oauth2server_client_login, $4)
      where authorization_id in (select id from inserted)
    ), events as (
      insert into oauth2server_audit (${eventNames})
      select ${eventNames} from json_populate_recordset(null::oauth2server_audit, $3)
      where token_id in (select id from tokens)
    )
    select id from tokens`.compile(handle.read)
  return text
}

/** The columns of a given authorization that the conditions of its insert need. */
interface GivenRow {
  readonly id: number
  readonly user_id: UserId
  readonly client_key: number
  readonly consent_id: string
  readonly session_id: string | null
}
