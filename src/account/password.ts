import type { Digest } from '../crypto/digest.ts'
import { maxPasswordBytes, minPasswordLength, validPassword } from '../model/field-rules.ts'
import { checkAll, InvalidField } from '../model/invalid-field.ts'
import { passwordChange, passwordRules } from '../pages/shapes/password.ts'
import { resource } from './resource.ts'

/** Changes the password of a built-in user, and ends all other sessions of the user. */
export const passwordPage = resource({
  path: ({ settingsPrefix }) => `${settingsPrefix}/password/`,
  operations: () => ({
    get: {
      operationId: 'getPasswordRules',
      summary: 'Returns the rules for passwords',
      answer: 'The rules.',
    },
    post: {
      operationId: 'changePassword',
      summary: 'Changes the password of the user, and ends all other sessions',
    },
  }),
  page: 'password',
  view: passwordRules,
  async read() {
    return { view: { min_length: minPasswordLength } }
  },
  form: passwordChange,
  async change({ http, server, signedIn, texts }, params) {
    const { user, sessionId } = signedIn
    const current = params.opaque('current_password') ?? ''
    const wrong = new InvalidField('current_password', 'The current password is wrong.', {
      problem: 'passwordWrong',
    })
    const { next } = checkAll({
      current: () => {
        if (current === '') throw wrong
      },
      next: () => validPassword(params.opaque('new_password') ?? '', 'new_password'),
    })
    const isPossible = Buffer.byteLength(current) <= maxPasswordBytes
    const browser = await server.knownBrowsers.find(user.email, http.header('cookie'))
    const tried = { account: user.email, address: http.address, browser }
    const checked = isPossible ? await server.passwordTries.check(tried, current) : undefined
    const isChanged =
      checked?.id === user.id &&
      (await server.passwordTries.replace(checked, next, sessionId as Digest))
    if (!isChanged) throw wrong
    return {
      location: server.ui.links.sessions ?? server.ui.links.applications,
      notice: { done: texts.done.passwordChanged },
    }
  },
})
