import * as password from '../../../pages/shapes/password.ts'
import type { ServerContext } from '../../../protocol/server-context.ts'
import type { Described } from './described.ts'
import { change, done, look } from './settings-operation.ts'

/** Describes how a user changes the password and verifies the e-mail address. */
export const passwordPaths = (server: ServerContext): Described => ({
  [`${server.settings.settingsPrefix}/password/`]: {
    get: look(server, {
      id: 'getPasswordRules',
      summary: 'Returns the rules for passwords',
      response: [200, 'The rules.', password.passwordRules],
    }),
    post: change(server, {
      id: 'changePassword',
      summary: 'Changes the password of the user, and ends all other sessions',
      body: password.passwordChange,
      response: done,
    }),
  },
  [`${server.settings.settingsPrefix}/verify-email/`]: {
    post: change(server, {
      id: 'requestEmailVerification',
      summary: 'Sends the user a link that verifies the e-mail address',
      response: done,
    }),
  },
})
