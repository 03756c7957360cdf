import type { z } from 'zod'
import { type AuditRecord, auditEvents } from '../model/audit-event.ts'
import { auditToWire } from '../model/audit-wire.ts'
import type { UserId } from '../model/user.ts'
import { changesIn, endingIn } from '../pages/parts/activity-row.ts'
import { deviceName } from '../pages/parts/device-name.ts'
import { activityForm, events as eventsShape } from '../pages/shapes/activity.ts'
import type { NamedUser } from '../pages/views/admin-activity.ts'
import { ownEvents } from '../protocol/extension-names.ts'
import type { RoutineTotal } from '../store/contract/audit-counts.ts'
import { adminActivityQuery, adminSearchFields, adminSearchIn } from './admin-activity-search.ts'
import { exportsOf } from './export-activity.ts'
import { cursorOf, listed } from './list-page.ts'
import { after } from './page-operations.ts'
import { searched } from './search.ts'
import { respond, settingsPage } from './settings-page.ts'

const day = 86_400_000
/** The maximum number of listed counts of routine events. Each count belongs to one event, one client and one grant. */
const maxTotals = 20

/** Lists and searches the audit events of all users, for administrators. */
export const adminActivityPage = settingsPage({
  path: ({ adminPrefix }) => `${adminPrefix}/activity/`,
  audience: 'admin',
  operations: () => ({
    get: {
      operationId: 'listEvents',
      summary: 'Lists all audit events for administrators, newest first',
      answer: 'The events.',
      view: eventsShape,
      query: [...adminActivityQuery, after('after')],
    },
    post: {
      operationId: 'searchEvents',
      summary: 'Redirects the search form of the page; scripts search with a GET request',
    },
  }),
  async show(request, refused) {
    const { server } = request
    const { search, filter } = adminSearchIn(request)
    await server.operations.flushAudit()
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
      exports: exportsOf(server.ui.links.adminActivity, search),
      problem: refused?.problem,
    }
    const json = (): z.output<typeof eventsShape> => ({
      events: found.items.map(auditToWire),
      next: events.next,
      routine: routine.map(totalToWire),
    })
    return respond(request, 'adminActivity', { view, json, refused })
  },
  form: activityForm,
  async change(request, params) {
    const { links } = request.server.ui
    return searched(request, params, {
      names: adminSearchFields,
      location: (fields) => `${links.adminActivity}${fields.size === 0 ? '' : `?${fields}`}`,
      // Accept every text as an ID, because the log also contains the IDs of deleted clients.
      isKnown: async () => true,
    })
  },
})

const totalToWire = ({ event, grantType, clientId, count }: RoutineTotal) => ({
  event,
  grant_type: grantType || null,
  client_id: clientId,
  count,
})

const named = (email: string | null, id: UserId | null): NamedUser | null => {
  if (email) return { name: email, isId: false }
  return id === null ? null : { name: String(id), isId: true }
}

const itemOf = (event: AuditRecord) => ({
  at: event.at,
  event: event.event,
  subject: event.subject,
  actor: event.actor,
  actorUser: named(event.actorEmail, event.actorId),
  user: named(event.userEmail, event.userId),
  clientId: event.clientId,
  tokenId: event.tokenId,
  ending: endingIn(event),
  changes: changesIn(event),
  address: event.address,
  browser: deviceName(event.userAgent),
  requestId: event.requestId,
})
