import type { Described } from '../described.ts'
import { named, type Parts } from '../schema.ts'
import { after, change, done, inQuery, look } from './settings-operation.ts'

/** Describes the pages for administrators. Other users receive a 404 response. */
export const administrationPaths = (server: Described): Parts => ({
  [`${server.settings.adminPrefix}/applications/`]: {
    get: look(server, {
      id: 'listEverything',
      summary: 'Lists all applications and tokens for administrators',
      finds: true,
      query: [
        inQuery('client', 'A part of the name, the ID or the owner’s e-mail address of a client.'),
        inQuery('token', 'A user’s e-mail address, a client’s id or a token’s id.'),
        after('clients_after'),
        after('tokens_after'),
      ],
      response: [200, 'The first or the requested page of each list.', named('Administration')],
    }),
    post: change(server, {
      id: 'administer',
      summary: 'Verifies, disables or deletes an application, or deletes a token',
      finds: true,
      body: named('AdministrationForm'),
      response: done,
    }),
  },
})
