import { validName } from '../model/field-rules.ts'
import { checkAll, InvalidField } from '../model/invalid-field.ts'
import { isoTimeOrNull } from '../model/iso-time.ts'
import { withoutOpenidScopes } from '../model/openid-scopes.ts'
import type { Parameters } from '../model/parameters.ts'
import { isExpired, type Token } from '../model/token.ts'
import { addresses } from '../pages/addresses.ts'
import { type EditedToken, personalTokenChange, tokenForm } from '../pages/forms/personal-token.ts'
import { deleted } from '../pages/shapes/applications.ts'
import { personalToken } from '../pages/shapes/personal-tokens.ts'
import { id } from '../pages/shapes/shape.ts'
import { listIn, textIn } from '../protocol/endpoints/forms/form.ts'
import { notFound } from '../protocol/endpoints/responses/problem.ts'
import { either, inPath } from '../protocol/openapi/schema.ts'
import type { ManagedToken } from '../records/tokens/personal-tokens.ts'
import { backIn } from './arranged-list.ts'
import { checkEdit, editState } from './edit.ts'
import type { Changed } from './notice.ts'
import { chosenExpiry, chosenScopes, expiryChoices, typedExpiry } from './personal-token-form.ts'
import { resource } from './resource.ts'
import type { SettingsRequest } from './settings-request.ts'
import { tokenIdOf } from './settings-request.ts'
import { inShell } from './snippets.ts'
import { personalTokenToWire } from './wire.ts'

/** The parameter of the path, for the OpenAPI document. */
export const ofToken = [inPath('id', 'The ID of a personal token of the user.', id)]

/** Returns the personal token in the path if it belongs to the user. @throws OAuthError 404 */
export const ownToken = async (request: SettingsRequest): Promise<ManagedToken> => {
  const { server, signedIn } = request
  const managed = await server.personalTokens.find(signedIn.user.id, tokenIdOf(request))
  if (!managed) throw notFound()
  return managed
}

/** Returns the values that the token would have after the submitted change. @throws InvalidField */
const typedEdit = (
  request: SettingsRequest,
  params: Parameters,
  token: Pick<Token, 'expires' | 'createdAt'>,
): EditedToken => {
  const chosen = chosenExpiry(params, request, token.createdAt)
  const expires = isoTimeOrNull(chosen === undefined ? token.expires : chosen)
  const stored = isoTimeOrNull(token.expires)
  // Compare only the days, because the same choice in two tabs, such as 90 days, results in times a few seconds apart.
  const isSame = expires?.slice(0, 10) === stored?.slice(0, 10)
  return { ...tokenForm.typed(params), expires: isSame ? stored : expires }
}

const curlOf = (accessToken: string, { server }: SettingsRequest): string =>
  `curl -H 'Authorization: Bearer ${accessToken}' ${inShell(`${server.issuer}${server.settings.oauthPrefix}/ping`)}`

/** Shows, changes and deletes a personal token of the user. */
export const personalTokenPage = resource({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/tokens/:id/`,
  operations: () => ({
    parameters: ofToken,
    get: {
      operationId: 'getPersonalToken',
      summary: 'Returns a personal token',
      answer: 'The token without its value.',
    },
    post: {
      operationId: 'changePersonalToken',
      summary: 'Changes or deletes a personal token',
      isBodyOptional: true,
      answer: 'The changed token, or the ID that undoes a deletion.',
      view: either(personalToken, deleted),
    },
  }),
  page: 'personalToken',
  view: personalToken,
  async read(request, refused) {
    const { server } = request
    await server.operations.flushTokenUses()
    const managed = await ownToken(request)
    const { token } = managed
    const view = personalTokenToWire(managed)
    return {
      view,
      forPage({ secret }) {
        const params = refused?.params.repeated('name').length === 1 ? refused.params : undefined
        const stored = { ...tokenForm.stored(view), expires: view.expires }
        return {
          values: {
            ...(params ? tokenForm.typed(params) : tokenForm.stored(view)),
            ...typedExpiry(params, 'keep'),
          },
          choices: withoutOpenidScopes(server.scopes.choices(), token.scopes),
          expiryChoices: expiryChoices(request, token.createdAt),
          edit: editState(stored, refused),
          typed: refused?.isConflict ? typedEdit(request, refused.params, token) : stored,
          fresh:
            secret === undefined ? null : { accessToken: secret, curl: curlOf(secret, request) },
        }
      },
    }
  },
  form: personalTokenChange,
  keepsDraft: true,
  async change(request, params) {
    const { server, signedIn, texts, asJson } = request
    const managed = await ownToken(request)
    const { token } = managed
    const to = addresses(server.ui.links)
    if (params.optional('delete') === 'yes') {
      // Write the last use before the deletion, so that undoing the deletion restores the last use too.
      await server.operations.flushTokenUses()
      const { undo } = await server.endedTokens.end(signedIn.user.id, [token.id])
      const back = params.repeated('back')[0]
      return {
        location: back === undefined ? to.applications : `${to.tokens}${backIn(back)}`,
        notice: { done: texts.done.tokenDeleted(managed.name), undo },
        json: { undo },
      }
    }
    if (params.optional('end_former') === 'yes') {
      await server.personalTokens.endFormers(managed)
      return saved(request, managed, texts.done.formerEnded)
    }
    if (params.optional('reduce') === 'yes') {
      const unused = unusedOf(managed)
      const scopes = token.scopes.filter((scope) => !unused.includes(scope))
      await server.personalTokens.update(managed, { scopes })
      return saved(request, managed, texts.done.tokenReduced)
    }
    const keepsScopes = asJson && params.repeated('scopes').length === 0
    const typedName = textIn(params, 'name') ?? (asJson ? undefined : '')
    // Retain internal scopes, because the form does not show them and only code may assign or remove them.
    const hidden = token.scopes.filter((scope) => server.scopes.get(scope)?.isInternal)
    const expired = new InvalidField('expires', 'The token has expired. Rotate it instead.', {
      problem: 'expiredForGood',
    })
    const { name, chosen, expires } = checkAll({
      name: () => (typedName === undefined ? undefined : validName(typedName)),
      chosen: () => (keepsScopes ? undefined : chosenScopes(listIn(params, 'scopes'), request)),
      expires: () => {
        const at = chosenExpiry(params, request, token.createdAt)
        if (at !== undefined && isExpired(token.expires, server.clock())) throw expired
        return at
      },
    })
    const changes = {
      ...(name !== undefined && { name }),
      ...(chosen && { scopes: [...chosen, ...hidden] }),
      ...(expires !== undefined && { expires }),
    }
    await server.personalTokens.update(managed, changes, (before) => {
      const scopes = server.scopes.visible(before.scopes)
      const stored = {
        ...tokenForm.stored({ name: before.name, scopes }),
        expires: isoTimeOrNull(before.expires),
      }
      checkEdit(params, { stored, typed: typedEdit(request, params, before) })
    })
    return saved(request, managed, texts.done.tokenSaved)
  },
})

const saved = async (
  { server, signedIn }: SettingsRequest,
  before: ManagedToken,
  done: string,
): Promise<Changed> => {
  const { id } = before.token
  const after = (await server.personalTokens.find(signedIn.user.id, id)) ?? before
  return {
    location: addresses(server.ui.links).token(id),
    notice: { done },
    json: personalTokenToWire(after),
  }
}

const usedOf = ({ token, usedScopes }: ManagedToken): readonly string[] =>
  token.getVisibleScopes().filter((scope) => usedScopes.includes(scope))

// If no use of a scope is recorded, the application may check scopes without the guards. Return no scope in this case,
// because the server does not know which scopes are unused.
const unusedOf = (managed: ManagedToken): readonly string[] =>
  usedOf(managed).length === 0
    ? []
    : managed.token.getVisibleScopes().filter((scope) => !managed.usedScopes.includes(scope))
