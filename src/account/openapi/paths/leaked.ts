import * as leaked from '../../../pages/shapes/leaked.ts'
import { inQuery } from '../../../protocol/openapi/schema.ts'
import type { ServerContext } from '../../../protocol/server-context.ts'
import type { Described } from './described.ts'
import { change, look } from './settings-operation.ts'

/** Describes the page on which users look up and revoke leaked credentials. */
export const leakedPaths = (server: ServerContext): Described => ({
  [`${server.settings.settingsPrefix}/leaked/`]: {
    get: look(server, {
      id: 'showLeaked',
      summary: 'Returns the credentials that the user looked up',
      query: [inQuery('found', 'The reference of an earlier response.')],
      response: [200, 'The credentials; an empty list without a reference.', leaked.leaked],
    }),
    post: change(server, {
      id: 'handleLeaked',
      summary: 'Looks up a leaked credential, or acts on it',
      finds: true,
      body: leaked.leakedForm,
      response: [200, 'The found credentials, in their state after the action.', leaked.leaked],
    }),
  },
})
