import { InvalidField } from '../model/invalid-field.ts'
import type { Parameters } from '../model/parameters.ts'
import { addresses } from '../pages/addresses.ts'
import { deleted, selected, selection } from '../pages/shapes/applications.ts'
import { listIn } from '../protocol/endpoints/forms/form.ts'
import { inQuery } from '../protocol/openapi/schema.ts'
import { backIn } from './arranged-list.ts'
import { pageSize } from './list-page.ts'
import { respond, settingsPage } from './settings-page.ts'

const idsIn = (params: Parameters): readonly number[] =>
  listIn(params, 'id')
    .filter((id) => /^[1-9]\d{0,14}$/.test(id))
    .slice(0, pageSize)
    .map(Number)

/** Deletes several personal tokens after the user has confirmed the selection. */
export const selectedTokensPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/tokens/selected/`,
  operations: () => ({
    get: {
      operationId: 'getSelectedPersonalTokens',
      summary: 'Returns the names of personal tokens before their deletion',
      answer: 'The known tokens.',
      view: selected,
      query: [inQuery('id', 'The ID of a token; may be repeated.')],
    },
    post: {
      operationId: 'deletePersonalTokens',
      summary: 'Deletes several personal tokens',
      answer: 'The tokens were deleted.',
      view: deleted,
    },
  }),
  async show(request, refused) {
    const { http, server, signedIn } = request
    const params = refused?.params ?? http.queryParameters()
    const chosen = await server.personalTokens.among(signedIn.user.id, idsIn(params))
    const to = addresses(server.ui.links)
    const back = backIn(params.repeated('back')[0])
    const entries = chosen.map(({ token, name, lastFour }) => ({
      id: String(token.id),
      name,
      detail: `…${lastFour}`,
    }))
    const view = {
      kind: 'tokens' as const,
      action: to.selectedTokens,
      cancel: `${to.tokens}${back}`,
      back,
      entries,
      problem: refused?.problem,
    }
    const json = () => ({ selected: entries.map(({ id, name }) => ({ id, name })) })
    return respond(request, 'endSelected', { view, json, refused })
  },
  form: selection,
  async change({ server, signedIn, texts }, params) {
    const ids = idsIn(params)
    if (ids.length === 0)
      throw new InvalidField('id', 'id must contain at least one ID.', { problem: 'other' })
    // Write the last uses before the deletion, so that undoing the deletion restores the last uses too.
    await server.operations.flushTokenUses()
    const { names, undo } = await server.endedTokens.end(signedIn.user.id, ids)
    const hasEnded = names.length > 0
    return {
      location: `${addresses(server.ui.links).tokens}${backIn(params.optional('back'))}`,
      notice: { done: texts.done.tokensDeleted(names.length), ...(hasEnded && { undo }) },
      json: hasEnded ? { undo } : {},
    }
  },
})
