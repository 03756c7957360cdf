import type { z } from 'zod'
import { ownAuditToWire } from '../model/audit-wire.ts'
import { activity } from '../pages/shapes/activity.ts'
import { activityItem } from './activity-item.ts'
import { activityQuery, conditionOf, periodIn, tokenIn } from './activity-search.ts'
import { exportsOf } from './export-activity.ts'
import { cursorOf, listed } from './list-page.ts'
import { after } from './page-operations.ts'
import { respond, settingsPage } from './settings-page.ts'

/** Lists the audit events of the user's account. */
export const activityPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/activity/`,
  operations: () => ({
    get: {
      operationId: 'listActivity',
      summary: 'Lists the events of the user’s account, newest first',
      answer: 'The events.',
      view: activity,
      query: [...activityQuery, after('after')],
    },
  }),
  async show(request) {
    const { server, signedIn } = request
    await server.operations.flushAudit()
    const period = periodIn(request)
    const token = tokenIn(request)
    const search = { ...conditionOf(period), tokenId: token === '' ? undefined : Number(token) }
    const found = await server.activity.listByUser(
      signedIn.user.id,
      cursorOf(request, 'after'),
      search,
    )
    const events = listed(request, 'after', found, activityItem)
    const json = (): z.output<typeof activity> => ({
      events: found.items.map(ownAuditToWire),
      next: events.next,
    })
    const view = {
      action: server.ui.links.activity,
      search: { ...period, token },
      events,
      exports: exportsOf(server.ui.links.activity, { ...period, token }),
    }
    return respond(request, 'activity', { view, json })
  },
})
