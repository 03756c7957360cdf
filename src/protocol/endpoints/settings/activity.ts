import type { z } from 'zod'
import type { AuditRecord } from '../../../model/audit-event.ts'
import { isByAnother, ownAuditToWire } from '../../../model/audit-wire.ts'
import type { activity } from '../../openapi/schemas/activity.ts'
import { deviceName } from './device-name.ts'
import { cursorOf, listed } from './list-page.ts'
import { respond, settingsPage } from './settings-page.ts'

/** Lists the audit events of the user's account. */
export const activityPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/activity/`,
  async show(request) {
    const { server, signedIn } = request
    await server.operations.flushAudit()
    const found = await server.activity.listByUser(signedIn.user.id, cursorOf(request, 'after'))
    const events = listed(request, 'after', found, activityItem)
    const json = (): z.output<typeof activity> => ({
      events: found.items.map(ownAuditToWire),
      next: events.next,
    })
    return respond(request, 'activity', { view: { events }, json })
  },
})

/** Converts an event for the affected user, or for an administrator. */
export const activityItem = (event: AuditRecord) => ({
  at: event.at,
  event: event.event,
  subject: event.subject,
  isByAnother: isByAnother(event),
  address: isByAnother(event) || event.address === '' ? null : event.address,
  browser: isByAnother(event) ? null : deviceName(event.userAgent),
})
