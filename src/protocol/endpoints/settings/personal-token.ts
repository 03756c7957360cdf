import { validName } from '../../../model/field-rules.ts'
import { checkAll } from '../../../model/invalid-field.ts'
import type { Parameters } from '../../../model/parameters.ts'
import { isExpired } from '../../../model/token.ts'
import type { ManagedToken } from '../../../records/tokens/personal-tokens.ts'
import { personalTokenChange } from '../../openapi/schemas/personal-tokens.ts'
import { notFound } from '../responses/problem.ts'
import { addresses, tokenIdOf } from './addresses.ts'
import { checkEdit, editState } from './edit.ts'
import { listIn, textIn } from './form.ts'
import { takeNotice } from './notice.ts'
import { overlaps } from './overlaps.ts'
import { chosenScopes } from './personal-token-form.ts'
import { type Refused, respond, settingsPage } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'
import { inShell } from './try-it.ts'
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
  const { token, name, lastUse } = managed
  const { done, secret } = await takeNotice(request)
  const to = addresses(server.ui)
  const isEdit = refused?.params.repeated('name').length === 1
  const stored = { name, scopes: token.getVisibleScopes() }
  const view = {
    action: to.token(token.id),
    back: to.applications,
    rotateAction: to.rotate(token.id),
    name,
    createdAt: token.createdAt,
    expires: token.expires,
    isExpired: isExpired(token.expires, server.clock()),
    lastUsedAt: lastUse?.at ?? null,
    lastUsedAddress: lastUse?.address ?? null,
    previousExpires: managed.previousExpires,
    overlaps,
    values: refused && isEdit ? typedToken(refused.params) : stored,
    edit: editState(stored, refused),
    scopes: server.scopes.choices(),
    fresh: secret === undefined ? null : { accessToken: secret, curl: curlOf(secret, request) },
    done,
    problem: refused?.problem,
  }
  return respond(request, 'personalToken', {
    view,
    json: () => personalTokenToWire(managed),
    refused,
  })
}

const typedToken = (params: Parameters) => ({
  name: params.repeated('name')[0] ?? '',
  scopes: listIn(params, 'scopes'),
})

const curlOf = (accessToken: string, { server }: SettingsRequest): string =>
  `curl -H 'Authorization: Bearer ${accessToken}' ${inShell(`${server.issuer}${server.settings.oauthPrefix}/ping`)}`

/** Shows, changes and deletes a personal token of the user. */
export const personalTokenPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/tokens/:id/`,
  show: showPersonalToken,
  form: personalTokenChange,
  async change(request, params) {
    const { server, signedIn, texts, asJson } = request
    const managed = await ownToken(request)
    const { token } = managed
    const to = addresses(server.ui)
    if (params.optional('delete') === 'yes') {
      await server.tokens.revoke(token)
      return { location: to.applications, notice: { done: texts.done.tokenDeleted(managed.name) } }
    }
    const keepsScopes = asJson && params.repeated('scopes').length === 0
    const typedName = textIn(params, 'name') ?? (asJson ? undefined : '')
    // Retain internal scopes, which code assigned and the form does not show.
    const hidden = token.scopes.filter((scope) => server.scopes.get(scope)?.isInternal)
    const { name, chosen } = checkAll({
      name: () => (typedName === undefined ? undefined : validName(typedName)),
      chosen: () => (keepsScopes ? undefined : chosenScopes(listIn(params, 'scopes'), request)),
    })
    const changes = {
      ...(name !== undefined && { name }),
      ...(chosen && { scopes: [...chosen, ...hidden] }),
    }
    await server.personalTokens.update(managed, changes, (before) => {
      const stored = { name: before.name, scopes: server.scopes.visible(before.scopes) }
      checkEdit(params, { stored, typed: typedToken(params) })
    })
    const changed = (await server.personalTokens.find(signedIn.user.id, token.id)) ?? managed
    return {
      location: to.token(token.id),
      notice: { done: texts.done.tokenSaved },
      json: personalTokenToWire(changed),
    }
  },
})
