import { clientChange, newClient } from '../../../pages/forms/client.ts'
import * as applications from '../../../pages/shapes/applications.ts'
import * as clients from '../../../pages/shapes/clients.ts'
import * as shape from '../../../pages/shapes/shape.ts'
import { either, inPath, inQuery } from '../../../protocol/openapi/schema.ts'
import type { ServerContext } from '../../../protocol/server-context.ts'
import { clientFormOf } from '../forms.ts'
import type { Described } from './described.ts'
import { after, arranged, change, done, look } from './settings-operation.ts'

const clientId = inPath('client_id', 'The ID of a client of the user.')

/** Describes the pages on which users manage their client applications and authorized applications. */
export const clientPaths = (server: ServerContext): Described => {
  const root = `${server.settings.settingsPrefix}/applications`
  return {
    [`${root}/`]: {
      get: look(server, {
        id: 'listApplications',
        summary: 'Lists the user’s own applications, personal tokens and authorized applications',
        query: [after('clients_after'), after('tokens_after'), after('authorized_after')],
        response: [200, 'The first or the requested page of each list.', applications.applications],
      }),
    },
    [`${root}/clients/`]: {
      get: look(server, {
        id: 'listClients',
        summary: 'Searches, sorts and filters the applications that the user registered',
        query: arranged(
          ['newest', 'oldest', 'name'],
          ['confidential', 'public', 'verified', 'disabled'],
        ),
        response: [200, 'A page of the list.', applications.clients],
      }),
    },
    [`${root}/authorized/`]: {
      get: look(server, {
        id: 'listAuthorizedApplications',
        summary: 'Searches, sorts and filters the applications that the user authorized',
        query: arranged(
          ['name', 'newest', 'oldest', 'used', 'unused'],
          ['never_used', 'verified', 'disabled'],
          [inQuery('scope', 'A scope of the consent or of a device.')],
        ),
        response: [200, 'A page of the list.', applications.authorizedApplications],
      }),
    },
    [`${root}/authorized/selected/`]: {
      get: look(server, {
        id: 'getSelectedApplications',
        summary: 'Returns the names of authorized applications before their revocation',
        query: [inQuery('id', 'The ID of a client; may be repeated.')],
        response: [200, 'The known applications.', applications.selected],
      }),
      post: change(server, {
        id: 'revokeSelectedApplications',
        summary: 'Revokes several applications',
        body: applications.selection,
        response: done,
      }),
    },
    [`${root}/clients/new/`]: {
      get: look(server, {
        id: 'getClientChoices',
        summary: 'Returns the scopes that a new client application can use',
        response: [200, 'The scopes, in the language of the user.', clients.clientChoices],
      }),
      post: change(server, {
        id: 'createClient',
        summary: 'Registers a client application',
        body: clientFormOf('NewClient', newClient, server),
        response: [201, 'The client with its secret.', clients.clientWithSecret],
      }),
    },
    [`${root}/clients/{client_id}/`]: {
      parameters: [clientId],
      get: look(server, {
        id: 'getClient',
        summary: 'Returns a client application',
        finds: true,
        response: [200, 'The client.', clients.client],
      }),
      post: change(server, {
        id: 'changeClient',
        summary: 'Changes or deletes a client application',
        finds: true,
        body: clientFormOf('ClientChange', clientChange, server),
        isBodyOptional: true,
        response: [
          200,
          'The changed client, or an empty object after a deletion.',
          either(clients.client, shape.done),
        ],
      }),
    },
    [`${root}/clients/{client_id}/reset/`]: {
      parameters: [clientId],
      post: change(server, {
        id: 'resetClientSecret',
        summary: 'Replaces the secret of a confidential client',
        finds: true,
        body: clients.overlapForm,
        isBodyOptional: true,
        response: [200, 'The client with its new secret.', clients.clientWithSecret],
      }),
    },
    [`${root}/authorized/{client_id}/revoke/`]: {
      parameters: [inPath('client_id', 'The ID of a client that the user authorized.')],
      post: change(server, {
        id: 'revokeApplication',
        summary: 'Revokes all authorizations of an application',
        finds: true,
        response: done,
      }),
    },
    [`${root}/authorized/revoke/`]: {
      post: change(server, {
        id: 'revokeAllApplications',
        summary: 'Revokes all authorizations of all applications',
        response: done,
      }),
    },
  }
}
