import type { Digest } from '../crypto/digest.ts'
import { maxPasswordBytes, minPasswordLength, validPassword } from '../model/field-rules.ts'
import { checkAll, InvalidField } from '../model/invalid-field.ts'
import { passwordChange } from '../pages/shapes/password.ts'
import { respond, settingsPage } from './settings-page.ts'

/** Changes the password of a built-in user, and ends all other sessions of the user. */
export const passwordPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/password/`,
  async show(request, refused) {
    const view = {
      action: request.server.ui.links.password ?? '',
      email: request.signedIn.user.email,
      minLength: minPasswordLength,
      problem: refused?.problem,
    }
    return respond(request, 'password', {
      view,
      json: () => ({ min_length: minPasswordLength }),
      refused,
    })
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
