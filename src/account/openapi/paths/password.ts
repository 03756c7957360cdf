import type { Described } from '../../../protocol/openapi/described.ts'
import { named, type Parts } from '../../../protocol/openapi/schema.ts'
import { change, done, look } from './settings-operation.ts'

/** Describes how a user changes the password and verifies the e-mail address; empty if the application manages the passwords. */
export const passwordPaths = (server: Described): Parts =>
  server.hasPasswords
    ? {
        [`${server.settings.settingsPrefix}/password/`]: {
          get: look(server, {
            id: 'getPasswordRules',
            summary: 'Returns the rules for passwords',
            response: [200, 'The rules.', named('PasswordRules')],
          }),
          post: change(server, {
            id: 'changePassword',
            summary: 'Changes the password of the user, and ends all other sessions',
            body: named('PasswordChange'),
            response: done,
          }),
        },
        ...(server.hasUserLinks && {
          [`${server.settings.settingsPrefix}/verify-email/`]: {
            post: change(server, {
              id: 'requestEmailVerification',
              summary: 'Sends the user a link that verifies the e-mail address',
              response: done,
            }),
          },
        }),
      }
    : {}
