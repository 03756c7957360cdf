import type { Described } from '../described.ts'
import { named, type Parts } from '../schema.ts'
import { after, inQuery, look } from './settings-operation.ts'

/** Describes the activity of the user's account and, for administrators, the whole audit log. */
export const activityPaths = (server: Described): Parts => ({
  [`${server.settings.settingsPrefix}/activity/`]: {
    get: look(server, {
      id: 'listActivity',
      summary: 'Lists the events of the user’s account, newest first',
      query: [after('after')],
      response: [200, 'The events.', named('Activity')],
    }),
  },
  [`${server.settings.adminPrefix}/activity/`]: {
    get: look(server, {
      id: 'listEvents',
      summary: 'Lists all audit events for administrators, newest first',
      finds: true,
      query: [
        inQuery('event', 'The name of an event, such as login.failed.'),
        inQuery('user', 'The ID or e-mail address of the affected user.'),
        inQuery('client', 'The ID of the affected client.'),
        after('after'),
      ],
      response: [200, 'The events.', named('Events')],
    }),
  },
})
