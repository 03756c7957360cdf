import type { Described } from '../../../protocol/openapi/described.ts'
import { named, type Parts } from '../../../protocol/openapi/schema.ts'
import { after, change, done, look } from './settings-operation.ts'

/** Describes the page of the user's sessions; empty if the application has its own login. */
export const sessionPaths = (server: Described): Parts =>
  server.sessionCookie === null
    ? {}
    : {
        [`${server.settings.settingsPrefix}/sessions/`]: {
          get: look(server, {
            id: 'listSessions',
            summary: 'Lists the sessions of the user',
            query: [after('after')],
            response: [200, 'The sessions.', named('Sessions')],
          }),
          post: change(server, {
            id: 'endSessions',
            summary: 'Ends one session, or all sessions except the current session',
            finds: true,
            body: named('SessionEnd'),
            response: done,
          }),
        },
      }
