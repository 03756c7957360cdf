import type { Described } from '../described.ts'
import { either, named, type Parts } from '../schema.ts'
import { after, change, done, inPath, look } from './settings-operation.ts'

const clientId = inPath('client_id', 'The id of a client of the user.')

/** Where users manage the applications that they made. */
export const clientPaths = (server: Described): Parts => {
  const root = `${server.settings.settingsPrefix}/applications`
  return {
    [`${root}/`]: {
      get: look(server, {
        id: 'listApplications',
        summary: 'The user’s applications and personal tokens, and what the user authorized',
        query: [after('clients_after'), after('tokens_after'), after('authorized_after')],
        answer: [200, 'The first part of each list, or the part asked for.', named('Applications')],
      }),
    },
    [`${root}/clients/new/`]: {
      get: look(server, {
        id: 'getClientChoices',
        summary: 'What a new client application can choose from',
        answer: [200, 'The scopes, in the language of the reader.', named('ClientChoices')],
      }),
      post: change(server, {
        id: 'createClient',
        summary: 'Registers a client application',
        body: named('NewClient'),
        answer: [201, 'The client with its secret.', named('ClientWithSecret')],
      }),
    },
    [`${root}/clients/{client_id}/`]: {
      parameters: [clientId],
      get: look(server, {
        id: 'getClient',
        summary: 'A client application',
        finds: true,
        answer: [200, 'The client.', named('Client')],
      }),
      post: change(server, {
        id: 'changeClient',
        summary: 'Changes a client application, or deletes it',
        finds: true,
        body: either(named('ClientChange'), named('ClientDeletion')),
        answer: [
          200,
          'The changed client; an empty object after a deletion.',
          either(named('Client'), named('Done')),
        ],
      }),
    },
    [`${root}/clients/{client_id}/reset/`]: {
      parameters: [clientId],
      post: change(server, {
        id: 'resetClientSecret',
        summary: 'Gives a confidential client another secret',
        finds: true,
        body: named('Overlap'),
        isBodyOptional: true,
        answer: [200, 'The client with its new secret.', named('ClientWithSecret')],
      }),
    },
    [`${root}/authorized/{client_id}/revoke/`]: {
      parameters: [inPath('client_id', 'The id of a client that the user authorized.')],
      post: change(server, {
        id: 'revokeApplication',
        summary: 'Takes back what an application was allowed, on all devices',
        finds: true,
        answer: done,
      }),
    },
    [`${root}/authorized/revoke/`]: {
      post: change(server, {
        id: 'revokeAllApplications',
        summary: 'Takes back everything from every application',
        answer: done,
      }),
    },
  }
}
