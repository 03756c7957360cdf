import { validName } from '../../../model/field-rules.ts'
import { checkAll } from '../../../model/invalid-field.ts'
import { newPersonalToken } from '../../openapi/schemas/personal-tokens.ts'
import { readerOf } from '../responses/reader.ts'
import { addresses } from './addresses.ts'
import { listIn, textIn } from './form.ts'
import { chosenScopes, expiresInOf, expiryDays } from './personal-token-form.ts'
import { respond, settingsPage } from './settings-page.ts'
import { personalTokenToWire, scopeToWire } from './wire.ts'

/** Creates a personal token of the user. */
export const newPersonalTokenPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/tokens/new/`,
  async show(request, refused) {
    const { server } = request
    const to = addresses(server.ui)
    const scopes = server.scopes.choices()
    const days = expiryDays(request)
    const typed = (name: string): string => refused?.params.repeated(name)[0] ?? ''
    const view = {
      action: to.newToken,
      back: to.applications,
      values: {
        name: typed('name'),
        scopes: refused ? listIn(refused.params, 'scopes') : [],
        expires: typed('expires'),
      },
      scopes,
      ...days,
      problem: refused?.problem,
    }
    const { language } = readerOf(request.http)
    const json = () => ({
      scopes: scopes.map((scope) => scopeToWire(scope, language)),
      last_day: days.lastDay,
    })
    return respond(request, 'newPersonalToken', { view, json, refused })
  },
  form: newPersonalToken,
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
      location: addresses(server.ui).token(token.id),
      notice: { done: texts.done.tokenCreated, secret },
      once: texts.token.once,
      json: {
        ...personalTokenToWire({ token, name, lastUse: null, previousExpires: null }),
        access_token: secret,
      },
      status: 201,
    }
  },
})
