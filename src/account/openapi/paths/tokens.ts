import { personalTokenChange } from '../../../pages/forms/personal-token.ts'
import * as applications from '../../../pages/shapes/applications.ts'
import * as clients from '../../../pages/shapes/clients.ts'
import * as tokens from '../../../pages/shapes/personal-tokens.ts'
import { id } from '../../../pages/shapes/shape.ts'
import { either, inPath, inQuery } from '../../../protocol/openapi/schema.ts'
import type { ServerContext } from '../../../protocol/server-context.ts'
import { newPersonalTokenOf } from '../forms.ts'
import type { Described } from './described.ts'
import { arranged, change, done, look } from './settings-operation.ts'

const personal = [inPath('id', 'The ID of a personal token of the user.', id)]
const authorized = [inPath('id', 'The ID of the token of a device.', id)]

/** Describes the pages on which users manage personal tokens and individual authorizations. */
export const tokenPaths = (server: ServerContext): Described => {
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
        response: [200, 'A page of the list.', applications.personalTokens],
      }),
    },
    [`${root}/selected/`]: {
      get: look(server, {
        id: 'getSelectedPersonalTokens',
        summary: 'Returns the names of personal tokens before their deletion',
        query: [inQuery('id', 'The ID of a token; may be repeated.')],
        response: [200, 'The known tokens.', applications.selected],
      }),
      post: change(server, {
        id: 'deletePersonalTokens',
        summary: 'Deletes several personal tokens',
        body: applications.selection,
        response: [200, 'The tokens were deleted.', applications.deleted],
      }),
    },
    [`${root}/undo/`]: {
      post: change(server, {
        id: 'restorePersonalTokens',
        summary: 'Restores personal tokens that were deleted in the last ten seconds',
        body: applications.undo,
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
          tokens.personalTokenChoices,
        ],
      }),
      post: change(server, {
        id: 'createPersonalToken',
        summary: 'Creates a personal token',
        body: newPersonalTokenOf(server),
        response: [201, 'The token with its value.', tokens.personalTokenWithValue],
      }),
    },
    [`${root}/{id}/`]: {
      parameters: personal,
      get: look(server, {
        id: 'getPersonalToken',
        summary: 'Returns a personal token',
        finds: true,
        response: [200, 'The token without its value.', tokens.personalToken],
      }),
      post: change(server, {
        id: 'changePersonalToken',
        summary: 'Changes or deletes a personal token',
        finds: true,
        body: personalTokenChange,
        isBodyOptional: true,
        response: [
          200,
          'The changed token, or the ID that undoes a deletion.',
          either(tokens.personalToken, applications.deleted),
        ],
      }),
    },
    [`${root}/{id}/rotate/`]: {
      parameters: personal,
      post: change(server, {
        id: 'rotatePersonalToken',
        summary: 'Replaces the value of a personal token',
        finds: true,
        body: clients.overlapForm,
        isBodyOptional: true,
        response: [200, 'The token with its new value.', tokens.personalTokenWithValue],
      }),
    },
    [`${root}/{id}/view/`]: {
      parameters: authorized,
      get: look(server, {
        id: 'getAuthorization',
        summary: 'Returns an authorization of an application',
        finds: true,
        response: [200, 'The authorization.', applications.device],
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
