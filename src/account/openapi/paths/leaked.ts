import type { Described } from '../../../protocol/openapi/described.ts'
import { inQuery, named, type Parts } from '../../../protocol/openapi/schema.ts'
import { change, look } from './settings-operation.ts'

/** Describes the page on which users look up and revoke leaked credentials. */
export const leakedPaths = (server: Described): Parts => ({
  [`${server.settings.settingsPrefix}/leaked/`]: {
    get: look(server, {
      id: 'showLeaked',
      summary: 'Returns the credentials that the user looked up',
      query: [inQuery('found', 'The reference of an earlier response.')],
      response: [200, 'The credentials; an empty list without a reference.', named('Leaked')],
    }),
    post: change(server, {
      id: 'handleLeaked',
      summary: 'Looks up a leaked credential, or acts on it',
      finds: true,
      body: named('LeakedForm'),
      response: [200, 'The found credentials, in their state after the action.', named('Leaked')],
    }),
  },
})
