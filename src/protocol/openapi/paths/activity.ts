import type { Described } from '../described.ts'
import { named, type Parts } from '../schema.ts'
import { after, inQuery, look } from './settings-operation.ts'

/** Where users see what happened with their account, and administrators what happened at all. */
export const activityPaths = (server: Described): Parts => ({
  [`${server.settings.settingsPrefix}/activity/`]: {
    get: look(server, {
      id: 'listActivity',
      summary: 'What happened with the user’s account, the latest first',
      query: [after('after')],
      answer: [200, 'The events.', named('Activity')],
    }),
  },
  [`${server.settings.adminPrefix}/activity/`]: {
    get: look(server, {
      id: 'listEvents',
      summary: 'The audit log, the latest first, for administrators',
      finds: true,
      query: [
        inQuery('event', 'The name of an event, such as login.failed.'),
        inQuery('user', 'The id or the e-mail address of whom it is about.'),
        inQuery('client', 'The id of the client that it is about.'),
        after('after'),
      ],
      answer: [200, 'The events.', named('Events')],
    }),
  },
})
