import type { Described } from '../described.ts'
import { either, id, named, type Parts } from '../schema.ts'
import { change, done, inPath, look } from './settings-operation.ts'

const personal = [inPath('id', 'The id of a personal token of the user.', id)]
const authorized = [inPath('id', 'The id of the token of a device.', id)]

/** Where users manage their personal tokens, and single authorizations. */
export const tokenPaths = (server: Described): Parts => {
  const root = `${server.settings.settingsPrefix}/applications/tokens`
  return {
    [`${root}/new/`]: {
      get: look(server, {
        id: 'getPersonalTokenChoices',
        summary: 'What a new personal token can choose from',
        answer: [
          200,
          'The scopes, in the language of the reader, and the last day.',
          named('PersonalTokenChoices'),
        ],
      }),
      post: change(server, {
        id: 'createPersonalToken',
        summary: 'Creates a personal token',
        body: named('NewPersonalToken'),
        answer: [201, 'The token with its value.', named('PersonalTokenWithValue')],
      }),
    },
    [`${root}/{id}/`]: {
      parameters: personal,
      get: look(server, {
        id: 'getPersonalToken',
        summary: 'A personal token',
        finds: true,
        answer: [200, 'The token without its value.', named('PersonalToken')],
      }),
      post: change(server, {
        id: 'changePersonalToken',
        summary: 'Changes a personal token, or deletes it',
        finds: true,
        body: either(named('PersonalTokenChange'), named('PersonalTokenDeletion')),
        answer: [
          200,
          'The changed token; an empty object after a deletion.',
          either(named('PersonalToken'), named('Done')),
        ],
      }),
    },
    [`${root}/{id}/rotate/`]: {
      parameters: personal,
      post: change(server, {
        id: 'rotatePersonalToken',
        summary: 'Gives a personal token another value',
        finds: true,
        body: named('PersonalTokenOverlap'),
        isBodyOptional: true,
        answer: [200, 'The token with its new value.', named('PersonalTokenWithValue')],
      }),
    },
    [`${root}/{id}/view/`]: {
      parameters: authorized,
      get: look(server, {
        id: 'getAuthorization',
        summary: 'What one authorization of an application may do',
        finds: true,
        answer: [200, 'The authorization.', named('Device')],
      }),
    },
    [`${root}/{id}/revoke/`]: {
      parameters: authorized,
      post: change(server, {
        id: 'revokeAuthorization',
        summary: 'Takes back what an application was allowed, on one device',
        finds: true,
        answer: done,
      }),
    },
  }
}
