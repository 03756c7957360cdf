import { ownAuditToWire } from '../model/audit-wire.ts'
import { activity } from '../pages/shapes/activity.ts'
import { activityQuery, conditionOf, periodIn, tokenIn } from './activity-search.ts'
import { exportsOf } from './export-activity.ts'
import { cursorOf, listed } from './list-page.ts'
import { after } from './page-operations.ts'
import { resource } from './resource.ts'

/** Lists the audit events of the user's account. */
export const activityPage = resource({
  path: ({ settingsPrefix }) => `${settingsPrefix}/activity/`,
  operations: () => ({
    get: {
      operationId: 'listActivity',
      summary: 'Lists the events of the user’s account, newest first',
      answer: 'The events.',
      query: [...activityQuery, after('after')],
    },
  }),
  page: 'activity',
  view: activity,
  async read(request) {
    const { server, signedIn } = request
    await server.operations.flushAudit()
    const period = periodIn(request)
    const token = tokenIn(request)
    const condition = { ...conditionOf(period), tokenId: token === '' ? undefined : Number(token) }
    const found = await server.activity.listByUser(
      signedIn.user.id,
      cursorOf(request, 'after'),
      condition,
    )
    const { items, next, first } = listed(request, 'after', found, ownAuditToWire)
    const search = { ...period, token }
    return {
      view: { events: items, next },
      forPage: () => ({ first, search, exports: exportsOf(server.ui.links.activity, search) }),
    }
  },
})
