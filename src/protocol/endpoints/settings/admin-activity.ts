import type { z } from 'zod'
import { type AuditRecord, auditEvents } from '../../../model/audit-event.ts'
import { auditToWire } from '../../../model/audit-wire.ts'
import type { RoutineTotal } from '../../../store/contract/audit-counts.ts'
import { ownEvents } from '../../extension-names.ts'
import type { events as eventsShape } from '../../openapi/schemas/activity.ts'
import { checkAdmin, searchedIn } from './admin.ts'
import { deviceName } from './device-name.ts'
import { cursorOf, listed } from './list-page.ts'
import { respond, settingsPage } from './settings-page.ts'

const day = 86_400_000
/** The maximum number of clients and grants whose routine events are shown. */
const maxTotals = 20

/** Lists and searches the audit events of all users, for administrators. */
export const adminActivityPage = settingsPage({
  path: ({ adminPrefix }) => `${adminPrefix}/activity/`,
  async show(request) {
    checkAdmin(request)
    const { server } = request
    const search = {
      event: searchedIn(request, 'event'),
      user: searchedIn(request, 'user'),
      client: searchedIn(request, 'client'),
    }
    await server.operations.flushAudit()
    const filter = {
      event: search.event || undefined,
      user: search.user || undefined,
      clientId: search.client || undefined,
    }
    const cursor = cursorOf(request, 'after')
    const found = await server.activity.search(filter, cursor)
    // Later pages of the list do not repeat the counts.
    const routine =
      cursor.after === null
        ? await server.activity.totals({ ...filter, since: server.clock() - day }, maxTotals)
        : []
    const events = listed(request, 'after', found, itemOf)
    const view = {
      action: server.ui.links.adminActivity,
      search,
      names: [
        ...Object.keys(auditEvents),
        ...server.extensions.flatMap(({ names }) => (names ? ownEvents(names) : [])),
      ],
      events,
      routine,
    }
    const json = (): z.output<typeof eventsShape> => ({
      events: found.items.map(auditToWire),
      next: events.next,
      routine: routine.map(totalToWire),
    })
    return respond(request, 'adminActivity', { view, json })
  },
})

const totalToWire = ({ event, grantType, clientId, count }: RoutineTotal) => ({
  event,
  grant_type: grantType || null,
  client_id: clientId,
  count,
})

const itemOf = (event: AuditRecord) => ({
  at: event.at,
  event: event.event,
  subject: event.subject,
  actor: event.actor,
  actorName: event.actorEmail || event.actorId,
  user: event.userEmail ?? event.userId,
  clientId: event.clientId,
  tokenId: event.tokenId,
  address: event.address,
  browser: deviceName(event.userAgent),
  requestId: event.requestId,
})
