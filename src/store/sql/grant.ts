import { type RawBuilder, sql } from 'kysely'
import { liveConsents } from './consents.ts'
import type { TableHandle } from './handle.ts'
import { liveSessions } from './sessions.ts'

/** The values of the consent and the session under which an authorization is inserted. */
export interface GivenGrant {
  readonly userId: RawBuilder<never>
  readonly clientKey: RawBuilder<never>
  readonly consentId: RawBuilder<never>
  readonly sessionId: RawBuilder<never>
}

/** Builds the queries that find the consent, if its user is active, and the session. */
export const grantOf = (
  handle: TableHandle,
  { userId, clientKey, consentId, sessionId }: GivenGrant,
) => ({
  consent: liveConsents(handle)
    .clearSelect()
    .select('s.id')
    .where('s.user_id', '=', userId)
    .where('s.client_key', '=', clientKey)
    .where('s.id', '=', consentId)
    .$if(handle.users !== 'elsewhere', (q) =>
      q.where(sql<boolean>`cast(u.active as text) in ('1', 'true')`),
    ),
  session: liveSessions(handle).select('s.id').where('s.id', '=', sessionId),
})
