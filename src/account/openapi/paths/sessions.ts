import * as sessions from '../../../pages/shapes/sessions.ts'
import type { ServerContext } from '../../../protocol/server-context.ts'
import type { Described } from './described.ts'
import { after, change, done, look } from './settings-operation.ts'

/** Describes the page of the user's sessions. */
export const sessionPaths = (server: ServerContext): Described => ({
  [`${server.settings.settingsPrefix}/sessions/`]: {
    get: look(server, {
      id: 'listSessions',
      summary: 'Lists the sessions of the user',
      query: [after('after')],
      response: [200, 'The sessions.', sessions.sessions],
    }),
    post: change(server, {
      id: 'endSessions',
      summary: 'Ends one session, or all sessions except the current session',
      finds: true,
      body: sessions.sessionEnd,
      response: done,
    }),
  },
})
