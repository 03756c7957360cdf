import { validName } from '../model/field-rules.ts'
import { checkAll } from '../model/invalid-field.ts'
import { withoutOpenidScopes } from '../model/openid-scopes.ts'
import { addresses } from '../pages/addresses.ts'
import {
  type ExpiryChoices,
  expires,
  newPersonalToken,
  type TokenValues,
  tokenForm,
} from '../pages/forms/personal-token.ts'
import { personalTokenChoices, personalTokenWithValue } from '../pages/shapes/personal-tokens.ts'
import { component } from '../pages/shapes/shape.ts'
import { listIn, textIn } from '../protocol/endpoints/forms/form.ts'
import { endingOf } from '../records/tokens/end-tokens.ts'
import {
  chosenScopes,
  defaultExpiry,
  expiresInOf,
  expiryChoices,
  typedExpiry,
} from './personal-token-form.ts'
import { resource } from './resource.ts'
import { isTyped } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'
import { personalTokenToWire, scopeToWire } from './wire.ts'

/** Creates a personal token of the user. */
export const newPersonalTokenPage = resource({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/tokens/new/`,
  operations: ({ settings }) => ({
    get: {
      operationId: 'getPersonalTokenChoices',
      summary: 'Returns the scopes and the last expiry day for a new personal token',
      answer: 'The scopes, in the language of the user, and the last expiry day.',
    },
    post: {
      operationId: 'createPersonalToken',
      summary: 'Creates a personal token',
      form: component(
        'NewPersonalToken',
        // `expires` cannot be null if the server limits the lifetime.
        settings.tokenPersonalMaxExpiresIn === 0
          ? newPersonalToken
          : newPersonalToken.extend({ expires: expires.optional() }),
      ),
      status: 201,
      answer: 'The token with its value.',
      view: personalTokenWithValue,
    },
  }),
  page: 'newPersonalToken',
  view: personalTokenChoices,
  async read(request, refused) {
    const { server } = request
    const choices = withoutOpenidScopes(server.scopes.choices())
    const scopes = choices.map((scope) => scopeToWire(scope, request))
    const expiryChoicesNow = expiryChoices(request, server.clock())
    return {
      view: { scopes, last_day: expiryChoicesNow.lastDay },
      forPage() {
        const isRefused = isTyped(refused)
        const values = isRefused
          ? {
              ...tokenForm.typed(refused.params),
              ...typedExpiry(refused.params, defaultExpiry(request)),
            }
          : linkedValues(request, expiryChoicesNow)
        const isPrefilled = !isRefused && isFilledIn(values)
        return { values, choices, expiryChoices: expiryChoicesNow, isPrefilled }
      },
    }
  },
  form: newPersonalToken,
  keepsDraft: true,
  async change(request, params) {
    const { server, signedIn, texts } = request
    const { id } = signedIn.user
    const { name, expiresIn, scopes } = checkAll({
      name: () => validName(textIn(params, 'name') ?? ''),
      expiresIn: () => expiresInOf(params, request),
      scopes: () => chosenScopes(listIn(params, 'scopes'), request),
    })
    const token = await server.personalTokens.create(name, id, {
      scopes,
      ...(expiresIn !== undefined && { expiresIn }),
      most: server.settings.personalTokensPerUser,
    })
    const secret = token.accessToken
    return {
      location: addresses(server.ui.links).token(token.id),
      notice: { done: texts.done.tokenCreated, secret },
      once: texts.token.once,
      json: {
        ...personalTokenToWire({
          token,
          name,
          lastFour: endingOf(secret),
          usedScopes: [],
          lastUse: null,
          previousExpires: null,
        }),
        access_token: secret,
      },
      status: 201,
    }
  },
})

// Ignores the expiry, because the form always preselects an expiry.
const isFilledIn = ({ expiry: _, expires: __, ...values }: TokenValues): boolean =>
  Object.values(values).some(({ length }) => length > 0)

/**
 * Returns the values with which a link such as `tokens/new/?name=Backup&scopes=notes:read&expires_in=30` pre-fills the
 * form. Omits scopes and days that the form does not offer.
 */
const linkedValues = (request: SettingsRequest, { presets }: ExpiryChoices): TokenValues => {
  const { http, server } = request
  const params = http.queryParameters()
  const asked = params.repeated('scopes').flatMap((scopes) => scopes.split(/[ ,]/))
  const [days] = params.repeated('expires_in')
  const preset = presets.find((one) => String(one.days) === days)
  return {
    name: params.repeated('name')[0]?.slice(0, 200) ?? '',
    scopes: server.scopes
      .choices()
      .map(({ id }) => id)
      .filter((id) => asked.includes(id)),
    expiry: preset ? String(preset.days) : defaultExpiry(request),
    expires: '',
  }
}
