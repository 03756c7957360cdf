import { validName } from '../model/field-rules.ts'
import { checkAll, InvalidField } from '../model/invalid-field.ts'
import { withoutOpenidScopes } from '../model/openid-scopes.ts'
import type { Parameters } from '../model/parameters.ts'
import { isExpired, type Token } from '../model/token.ts'
import { addresses } from '../pages/addresses.ts'
import type { EditedToken } from '../pages/models/personal-token.ts'
import { personalTokenChange } from '../pages/shapes/personal-tokens.ts'
import { listIn, textIn } from '../protocol/endpoints/forms/form.ts'
import { notFound } from '../protocol/endpoints/responses/problem.ts'
import type { ManagedToken } from '../records/tokens/personal-tokens.ts'
import { backIn } from './arranged-list.ts'
import { checkEdit, editState } from './edit.ts'
import { type Changed, showNotice } from './notice.ts'
import { chosenExpiry, chosenScopes, expiryChoices } from './personal-token-form.ts'
import { type Refused, respond, settingsPage } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'
import { tokenIdOf } from './settings-request.ts'
import { inShell } from './snippets.ts'
import { personalTokenToWire } from './wire.ts'

/** Returns the personal token in the path if it belongs to the user. @throws OAuthError 404 */
export const ownToken = async (request: SettingsRequest): Promise<ManagedToken> => {
  const { server, signedIn } = request
  const managed = await server.personalTokens.find(signedIn.user.id, tokenIdOf(request))
  if (!managed) throw notFound()
  return managed
}

/** Shows a personal token of the user. If the form was refused, the page shows the submitted values. */
export const showPersonalToken = async (
  request: SettingsRequest,
  refused?: Refused,
): Promise<Response> => {
  const { server } = request
  await server.operations.flushTokenUses()
  const managed = await ownToken(request)
  const { token, name, lastFour, lastUse } = managed
  const notice = await showNotice(request)
  const { done, secret } = notice
  const to = addresses(server.ui.links)
  const isEdit = refused?.params.repeated('name').length === 1
  const stored = editedOf(managed)
  const view = {
    action: to.token(token.id),
    back: to.tokens,
    rotateAction: to.rotate(token.id),
    name,
    lastFour,
    createdAt: token.createdAt,
    expires: token.expires,
    isExpired: isExpired(token.expires, server.clock()),
    lastUsedAt: lastUse?.at ?? null,
    lastUsedAddress: lastUse?.address ?? null,
    previousExpires: managed.previousExpires,
    usedScopes: unusedOf(managed).length > 0 ? usedOf(managed) : null,
    choices: isExpired(token.expires, server.clock())
      ? null
      : expiryChoices(request, token.createdAt),
    values: {
      ...(refused && isEdit ? typedToken(refused.params) : { name, scopes: stored.scopes }),
      ...typedExpiry(isEdit ? refused?.params : undefined),
    },
    edit: editState(stored, refused),
    typed: refused?.isConflict ? typedEdit(request, refused.params, managed) : stored,
    scopes: withoutOpenidScopes(server.scopes.choices(), token.scopes),
    fresh: secret === undefined ? null : { accessToken: secret, curl: curlOf(secret, request) },
    done,
    problem: refused?.problem,
  }
  return respond(request, 'personalToken', {
    view,
    json: () => personalTokenToWire(managed),
    refused,
    notice,
  })
}

const typedToken = (params: Parameters) => ({
  name: params.repeated('name')[0] ?? '',
  scopes: listIn(params, 'scopes'),
})

const editedOf = ({ token, name }: ManagedToken): EditedToken => ({
  name,
  scopes: token.getVisibleScopes(),
  expires: token.expires,
})

/** Returns the values that the token would have after the submitted change. @throws InvalidField */
const typedEdit = (
  request: SettingsRequest,
  params: Parameters,
  { token }: { readonly token: Pick<Token, 'expires' | 'createdAt'> },
): EditedToken => {
  const chosen = chosenExpiry(params, request, token.createdAt)
  const expires = chosen === undefined ? token.expires : chosen
  // Compare only the days, because the same choice in two tabs, such as 90 days, results in times a few seconds apart.
  const isSame = expires !== null && token.expires !== null && sameDay(expires, token.expires)
  return { ...typedToken(params), expires: isSame ? token.expires : expires }
}

const sameDay = (a: number, b: number): boolean =>
  Math.floor(a / 86_400_000) === Math.floor(b / 86_400_000)

const typedExpiry = (params: Parameters | undefined) => {
  const expires = params?.repeated('expires')[0] ?? ''
  return { expiry: expires === '' ? (params?.repeated('expiry')[0] ?? 'keep') : 'day', expires }
}

const curlOf = (accessToken: string, { server }: SettingsRequest): string =>
  `curl -H 'Authorization: Bearer ${accessToken}' ${inShell(`${server.issuer}${server.settings.oauthPrefix}/ping`)}`

/** Shows, changes and deletes a personal token of the user. */
export const personalTokenPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/tokens/:id/`,
  show: showPersonalToken,
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
      const { expires } = before
      const stored = { name: before.name, scopes: server.scopes.visible(before.scopes), expires }
      checkEdit(params, { stored, typed: typedEdit(request, params, { token: before }) })
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
