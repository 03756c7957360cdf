import type { AuditRecord } from '../model/audit-event.ts'
import { isByAnother } from '../model/audit-wire.ts'
import type { ActivityItem, ChangedField } from '../pages/parts/activity-row.ts'
import { deviceName } from './device-name.ts'

/** Converts an event for the affected user. Omits the IP address and the browser if another user caused the event. */
export const activityItem = (event: AuditRecord): ActivityItem => ({
  at: event.at,
  event: event.event,
  subject: event.subject,
  tokenId: event.tokenId,
  ending: endingIn(event),
  changes: changesIn(event),
  isByAnother: isByAnother(event),
  address: isByAnother(event) || event.address === '' ? null : event.address,
  browser: isByAnother(event) ? null : deviceName(event.userAgent),
})

/** Returns the last characters of the token; null if the event does not contain them. */
export const endingIn = ({ details }: AuditRecord): string | null =>
  typeof details.ending === 'string' ? details.ending : null

/** Returns the changed fields of an event. */
export const changesIn = ({ details }: AuditRecord): readonly ChangedField[] =>
  typeof details.changes === 'object' && details.changes !== null
    ? Object.entries(details.changes).flatMap(([field, texts]: [string, unknown]) =>
        Array.isArray(texts) ? [{ field, before: String(texts[0]), after: String(texts[1]) }] : [],
      )
    : []
