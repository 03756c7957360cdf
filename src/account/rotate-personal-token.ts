import { InvalidField } from '../model/invalid-field.ts'
import { addresses } from '../pages/addresses.ts'
import { overlapForm } from '../pages/shapes/clients.ts'
import { personalTokenWithValue } from '../pages/shapes/personal-tokens.ts'
import { secondsIn } from '../protocol/endpoints/forms/form.ts'
import { endingOf } from '../records/tokens/end-tokens.ts'
import { ofToken, ownToken, personalTokenPage } from './personal-token.ts'
import { settingsPage } from './settings-page.ts'
import { personalTokenToWire } from './wire.ts'

/** Rotates the value of a personal token. The former value remains valid for a time that the user chooses. */
export const rotatePersonalTokenPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/tokens/:id/rotate/`,
  operations: () => ({
    parameters: ofToken,
    post: {
      operationId: 'rotatePersonalToken',
      summary: 'Replaces the value of a personal token',
      isBodyOptional: true,
      answer: 'The token with its new value.',
      view: personalTokenWithValue,
    },
  }),
  isShown: false,
  show: personalTokenPage.show,
  form: overlapForm,
  async change(request, params) {
    const { server, texts } = request
    const managed = await ownToken(request)
    const { token } = managed
    // Refuse a token with internal scopes. A rotation would renew these scopes, but only code may assign internal scopes.
    if (token.getVisibleScopes().length < server.scopes.registered(token.scopes).length) {
      throw new InvalidField('id', 'The token has a scope that only the application may assign.', {
        problem: 'notRotatable',
      })
    }
    const overlap = secondsIn(params, 'overlap')
    const { tokenPersonalMaxExpiresIn: most } = server.settings
    const rotated = await server.personalTokens.rotate(token.id, {
      overlap,
      ...(most > 0 && { maxExpiresIn: most }),
    })
    const { accessToken, previousExpires } = rotated
    return {
      location: addresses(server.ui.links).token(token.id),
      notice: { done: texts.done.tokenRotated, secret: accessToken },
      once: texts.token.once,
      json: {
        ...personalTokenToWire({
          ...managed,
          token: rotated,
          lastFour: endingOf(accessToken),
          previousExpires,
        }),
        access_token: accessToken,
      },
    }
  },
})
