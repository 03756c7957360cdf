import * as administration from '../../../pages/shapes/administration.ts'
import * as shape from '../../../pages/shapes/shape.ts'
import * as users from '../../../pages/shapes/users.ts'
import { either, inPath, inQuery } from '../../../protocol/openapi/schema.ts'
import type { ServerContext } from '../../../protocol/server-context.ts'
import type { Described } from './described.ts'
import { after, arranged, change, done, look } from './settings-operation.ts'

/** Describes the pages for administrators. Other users receive a 404 response. */
export const administrationPaths = (server: ServerContext): Described => ({
  [`${server.settings.adminPrefix}/overview/`]: {
    get: look(server, {
      id: 'getAdministration',
      summary: 'Lists the applications that were refused most, for administrators',
      finds: true,
      response: [200, 'The applications.', administration.overview],
    }),
  },
  [`${server.settings.adminPrefix}/applications/`]: {
    get: look(server, {
      id: 'listEverything',
      summary: 'Lists all applications and tokens for administrators',
      finds: true,
      query: [
        inQuery('client', 'A part of the name, the ID or the owner’s e-mail address of a client.'),
        inQuery('token', 'A user’s e-mail address, a client’s ID or a token’s ID.'),
        after('clients_after'),
        after('tokens_after'),
      ],
      response: [
        200,
        'The first or the requested page of each list.',
        administration.administration,
      ],
    }),
    post: change(server, {
      id: 'administer',
      summary: 'Verifies, disables or deletes an application, or deletes a token',
      finds: true,
      body: administration.administrationForm,
      response: done,
    }),
  },
  [`${server.settings.adminPrefix}/applications/{client_id}/`]: {
    parameters: [inPath('client_id', 'The ID of a client.')],
    get: look(server, {
      id: 'getApplication',
      summary: 'Returns an application for administrators',
      finds: true,
      response: [200, 'The application.', administration.adminClient],
    }),
    post: change(server, {
      id: 'administerApplication',
      summary: 'Verifies, disables or deletes an application, or revokes its tokens',
      finds: true,
      body: administration.clientForm,
      response: [
        200,
        'The changed application, or an empty object after a deletion.',
        either(administration.adminClient, shape.done),
      ],
    }),
  },
  [`${server.settings.adminPrefix}/tokens/`]: {
    get: look(server, {
      id: 'listTokens',
      summary: 'Finds, sorts and filters the tokens of all users for administrators',
      finds: true,
      query: arranged(
        ['newest', 'oldest', 'name', 'expires', 'used', 'unused'],
        ['never_used', 'expiring', 'expired', 'no_expiry'],
        [
          inQuery('kind', 'The kind of the tokens.', {
            type: 'string',
            enum: ['personal', 'access', 'refresh'],
          }),
          inQuery('scope', 'A scope of the tokens.'),
        ],
        inQuery('token', 'A user’s e-mail address, a client’s ID or a token’s ID.'),
      ),
      response: [200, 'A page of the list.', administration.adminTokens],
    }),
    post: change(server, {
      id: 'administerToken',
      summary: 'Deletes a token',
      finds: true,
      body: administration.tokenForm,
      response: done,
    }),
  },
  [`${server.settings.adminPrefix}/users/`]: {
    get: look(server, {
      id: 'listUsers',
      summary: 'Lists and finds users for administrators',
      finds: true,
      query: [inQuery('user', 'The beginning of an e-mail address, or an ID.'), after('after')],
      response: [200, 'The first or the requested page of the list.', users.users],
    }),
    post: change(server, {
      id: 'searchUsers',
      summary: 'Redirects the search form of the page; scripts search with a GET request',
      finds: true,
      body: users.userSearch,
      response: done,
    }),
  },
  [`${server.settings.adminPrefix}/users/{id}/`]: {
    parameters: [inPath('id', 'The ID of the user.')],
    get: look(server, {
      id: 'getUser',
      summary: 'Returns a user with sessions, tokens and applications for administrators',
      finds: true,
      query: [
        after('sessions_after'),
        after('tokens_after'),
        after('clients_after'),
        after('authorized_after'),
      ],
      response: [200, 'The user.', users.userDetails],
    }),
    post: change(server, {
      id: 'administerUser',
      summary: 'Deactivates or activates a user, ends sessions or revokes tokens of a user',
      finds: true,
      body: users.userForm,
      response: [200, 'The user after the change.', users.user],
    }),
  },
})
