import { id } from '../../../pages/shapes/shape.ts'
import type { Described } from '../../../protocol/openapi/described.ts'
import { either, inQuery, named, type Parts } from '../../../protocol/openapi/schema.ts'
import { schemaOf } from '../../../protocol/openapi/shape.ts'
import { arranged, change, done, inPath, look } from './settings-operation.ts'

const tokenId = schemaOf(id)
const personal = [inPath('id', 'The ID of a personal token of the user.', tokenId)]
const authorized = [inPath('id', 'The ID of the token of a device.', tokenId)]

/** Describes the pages on which users manage personal tokens and individual authorizations. */
export const tokenPaths = (server: Described): Parts => {
  const root = `${server.settings.settingsPrefix}/applications/tokens`
  return {
    [`${root}/`]: {
      get: look(server, {
        id: 'listPersonalTokens',
        summary: 'Searches, sorts and filters the personal tokens of the user',
        query: arranged(
          ['newest', 'oldest', 'name', 'expires', 'used', 'unused'],
          ['never_used', 'expiring', 'expired', 'no_expiry'],
          [inQuery('scope', 'A scope of the tokens.')],
        ),
        response: [200, 'A page of the list.', named('PersonalTokens')],
      }),
    },
    [`${root}/selected/`]: {
      get: look(server, {
        id: 'getSelectedPersonalTokens',
        summary: 'Returns the names of personal tokens before their deletion',
        query: [inQuery('id', 'The ID of a token; may be repeated.')],
        response: [200, 'The known tokens.', named('Selected')],
      }),
      post: change(server, {
        id: 'deletePersonalTokens',
        summary: 'Deletes several personal tokens',
        body: named('Selection'),
        response: [200, 'The tokens were deleted.', named('Deleted')],
      }),
    },
    [`${root}/undo/`]: {
      post: change(server, {
        id: 'restorePersonalTokens',
        summary: 'Restores personal tokens that were deleted in the last ten seconds',
        body: named('Undo'),
        response: done,
      }),
    },
    [`${root}/new/`]: {
      get: look(server, {
        id: 'getPersonalTokenChoices',
        summary: 'Returns the scopes and the last expiry day for a new personal token',
        response: [
          200,
          'The scopes, in the language of the user, and the last expiry day.',
          named('PersonalTokenChoices'),
        ],
      }),
      post: change(server, {
        id: 'createPersonalToken',
        summary: 'Creates a personal token',
        body: named('NewPersonalToken'),
        response: [201, 'The token with its value.', named('PersonalTokenWithValue')],
      }),
    },
    [`${root}/{id}/`]: {
      parameters: personal,
      get: look(server, {
        id: 'getPersonalToken',
        summary: 'Returns a personal token',
        finds: true,
        response: [200, 'The token without its value.', named('PersonalToken')],
      }),
      post: change(server, {
        id: 'changePersonalToken',
        summary: 'Changes or deletes a personal token',
        finds: true,
        body: named('PersonalTokenChange'),
        isBodyOptional: true,
        response: [
          200,
          'The changed token, or the ID that undoes a deletion.',
          either(named('PersonalToken'), named('Deleted')),
        ],
      }),
    },
    [`${root}/{id}/rotate/`]: {
      parameters: personal,
      post: change(server, {
        id: 'rotatePersonalToken',
        summary: 'Replaces the value of a personal token',
        finds: true,
        body: named('Overlap'),
        isBodyOptional: true,
        response: [200, 'The token with its new value.', named('PersonalTokenWithValue')],
      }),
    },
    [`${root}/{id}/view/`]: {
      parameters: authorized,
      get: look(server, {
        id: 'getAuthorization',
        summary: 'Returns an authorization of an application',
        finds: true,
        response: [200, 'The authorization.', named('Device')],
      }),
    },
    [`${root}/{id}/revoke/`]: {
      parameters: authorized,
      post: change(server, {
        id: 'revokeAuthorization',
        summary: 'Revokes an authorization of an application',
        finds: true,
        response: done,
      }),
    },
  }
}
