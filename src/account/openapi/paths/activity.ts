import * as activity from '../../../pages/shapes/activity.ts'
import { inQuery } from '../../../protocol/openapi/schema.ts'
import type { ServerContext } from '../../../protocol/server-context.ts'
import type { Described } from './described.ts'
import { after, change, done, file, look } from './settings-operation.ts'

/** Describes the activity of the user's account and, for administrators, the whole audit log. */
export const activityPaths = (server: ServerContext): Described => ({
  [`${server.settings.settingsPrefix}/activity/`]: {
    get: look(server, {
      id: 'listActivity',
      summary: 'Lists the events of the user’s account, newest first',
      query: [...ownSearch, after('after')],
      response: [200, 'The events.', activity.activity],
    }),
  },
  [`${server.settings.settingsPrefix}/activity/export/`]: {
    get: file(server, {
      id: 'exportActivity',
      summary: 'Returns the events of the user’s account as CSV or JSON Lines, newest first',
      query: [...ownSearch, format],
    }),
  },
  [`${server.settings.adminPrefix}/activity/`]: {
    get: look(server, {
      id: 'listEvents',
      summary: 'Lists all audit events for administrators, newest first',
      finds: true,
      query: [...search, after('after')],
      response: [200, 'The events.', activity.events],
    }),
    post: change(server, {
      id: 'searchEvents',
      summary: 'Redirects the search form of the page; scripts search with a GET request',
      finds: true,
      body: activity.activityForm,
      response: done,
    }),
  },
  [`${server.settings.adminPrefix}/activity/export/`]: {
    get: file(server, {
      id: 'exportEvents',
      summary: 'Returns all audit events as CSV or JSON Lines for administrators, newest first',
      finds: true,
      query: [...search, format],
    }),
  },
})

const period = [
  inQuery('since', 'The first day in UTC, such as 2026-11-01.'),
  inQuery('until', 'The last day in UTC.'),
]
const token = inQuery('token', 'The ID of a token.')
const format = inQuery('format', '`csv` (the default) or `jsonl`.')
const ownSearch = [...period, token]
const search = [
  inQuery('event', 'The name of an event, such as login.failed.'),
  inQuery('user', 'The ID or e-mail address of the affected user.'),
  inQuery('client', 'The ID of the affected client.'),
  inQuery('address', 'The IP address of the request.'),
  ...ownSearch,
]
