import { validName } from '../model/field-rules.ts'
import { checkAll } from '../model/invalid-field.ts'
import { withoutOpenidScopes } from '../model/openid-scopes.ts'
import type { Parameters } from '../model/parameters.ts'
import { addresses } from '../pages/addresses.ts'
import type { ExpiryChoices, PersonalTokenFormValues } from '../pages/models/personal-token.ts'
import { newPersonalToken } from '../pages/shapes/personal-tokens.ts'
import { listIn, textIn } from '../protocol/endpoints/forms/form.ts'
import { endingOf } from '../records/tokens/end-tokens.ts'
import { chosenScopes, defaultExpiry, expiresInOf, expiryChoices } from './personal-token-form.ts'
import { isTyped, respond, settingsPage } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'
import { personalTokenToWire, scopeToWire } from './wire.ts'

/** Creates a personal token of the user. */
export const newPersonalTokenPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/tokens/new/`,
  async show(request, refused) {
    const { server } = request
    const to = addresses(server.ui.links)
    const scopes = withoutOpenidScopes(server.scopes.choices())
    const choices = expiryChoices(request, server.clock())
    const isRefused = isTyped(refused)
    const values = isRefused ? typedValues(refused.params, request) : linkedValues(request, choices)
    const view = {
      action: to.newToken,
      back: to.tokens,
      values,
      scopes,
      choices,
      isPrefilled: !isRefused && isFilledIn(values),
      problem: refused?.problem,
    }
    const json = () => ({
      scopes: scopes.map((scope) => scopeToWire(scope, request)),
      last_day: choices.lastDay,
    })
    return respond(request, 'newPersonalToken', { view, json, refused })
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
const isFilledIn = ({ expiry: _, expires: __, ...values }: PersonalTokenFormValues): boolean =>
  Object.values(values).some(({ length }) => length > 0)

const typedValues = (params: Parameters, request: SettingsRequest): PersonalTokenFormValues => {
  const expires = params.repeated('expires')[0] ?? ''
  const expiry = params.repeated('expiry')[0] ?? defaultExpiry(request)
  return {
    name: params.repeated('name')[0] ?? '',
    scopes: listIn(params, 'scopes'),
    expiry: expires === '' ? expiry : 'day',
    expires,
  }
}

/**
 * Returns the values with which a link such as `tokens/new/?name=Backup&scopes=notes:read&expires_in=30` pre-fills the
 * form. Omits scopes and days that the form does not offer.
 */
const linkedValues = (
  request: SettingsRequest,
  { presets }: ExpiryChoices,
): PersonalTokenFormValues => {
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
