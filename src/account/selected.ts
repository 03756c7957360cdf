import { InvalidField } from '../model/invalid-field.ts'
import type { Parameters } from '../model/parameters.ts'
import { deleted, selected, selection } from '../pages/shapes/applications.ts'
import type { EndSelectedView } from '../pages/views/end-selected.ts'
import { listIn } from '../protocol/endpoints/forms/form.ts'
import { inQuery } from '../protocol/openapi/schema.ts'
import { backIn } from './arranged-list.ts'
import { pageSize } from './list-page.ts'
import type { Changed } from './notice.ts'
import { type Resource, resource } from './resource.ts'
import type { SettingsRequest } from './settings-request.ts'

interface Selected<Id>
  extends Pick<Resource<'endSelected', typeof selected>, 'path' | 'operations'>,
    Pick<EndSelectedView, 'kind'> {
  readonly idsIn: (params: Parameters) => readonly Id[]
  /** Returns the known entries with these IDs, each with the detail that only the page shows. */
  readonly entries: (
    request: SettingsRequest,
    ids: readonly Id[],
  ) => Promise<readonly { readonly id: string; readonly name: string; readonly detail: string }[]>
  /** Ends the entries. `back` is the query of the list to which the user returns. */
  readonly end: (request: SettingsRequest, ids: readonly Id[], back: string) => Promise<Changed>
}

/** Creates the page on which a user confirms that the selected entries of a list end. */
const selectedPage = <Id>({ kind, idsIn, entries, end, ...rest }: Selected<Id>) =>
  resource({
    ...rest,
    page: 'endSelected',
    view: selected,
    async read(request, refused) {
      const params = refused?.params ?? request.http.queryParameters()
      const chosen = await entries(request, idsIn(params))
      return {
        view: { selected: chosen.map(({ id, name }) => ({ id, name })) },
        forPage: () => ({
          kind,
          details: chosen.map(({ detail }) => detail),
          back: backIn(params.repeated('back')[0]),
        }),
      }
    },
    form: selection,
    async change(request, params) {
      const ids = idsIn(params)
      if (ids.length === 0)
        throw new InvalidField('id', 'id must contain at least one ID.', { problem: 'other' })
      return end(request, ids, backIn(params.optional('back')))
    },
  })

/** Deletes several personal tokens after the user has confirmed the selection. */
export const selectedTokensPage = selectedPage<number>({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/tokens/selected/`,
  operations: () => ({
    get: {
      operationId: 'getSelectedPersonalTokens',
      summary: 'Returns the names of personal tokens before their deletion',
      answer: 'The known tokens.',
      query: [inQuery('id', 'The ID of a token; may be repeated.')],
    },
    post: {
      operationId: 'deletePersonalTokens',
      summary: 'Deletes several personal tokens',
      answer: 'The tokens were deleted.',
      view: deleted,
    },
  }),
  kind: 'tokens',
  idsIn: (params) =>
    listIn(params, 'id')
      .filter((id) => /^[1-9]\d{0,14}$/.test(id))
      .slice(0, pageSize)
      .map(Number),
  async entries({ server, signedIn }, ids) {
    const tokens = await server.personalTokens.among(signedIn.user.id, ids)
    return tokens.map(({ token, name, lastFour }) => ({
      id: String(token.id),
      name,
      detail: `…${lastFour}`,
    }))
  },
  async end({ server, signedIn, texts }, ids, back) {
    // Write the last uses before the deletion, so that undoing the deletion restores the last uses too.
    await server.operations.flushTokenUses()
    const { names, undo } = await server.endedTokens.end(signedIn.user.id, ids)
    const hasEnded = names.length > 0
    return {
      location: `${server.ui.links.tokens}${back}`,
      notice: { done: texts.done.tokensDeleted(names.length), ...(hasEnded && { undo }) },
      json: hasEnded ? { undo } : {},
    }
  },
})

/** Revokes several authorized applications after the user has confirmed the selection. */
export const selectedApplicationsPage = selectedPage<string>({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/authorized/selected/`,
  operations: () => ({
    get: {
      operationId: 'getSelectedApplications',
      summary: 'Returns the names of authorized applications before their revocation',
      answer: 'The known applications.',
      query: [inQuery('id', 'The ID of a client; may be repeated.')],
    },
    post: { operationId: 'revokeSelectedApplications', summary: 'Revokes several applications' },
  }),
  kind: 'applications',
  idsIn: (params) => [...new Set(listIn(params, 'id'))].slice(0, pageSize),
  async entries({ server, signedIn }, ids) {
    const applications = await server.authorizedApplications.among(signedIn.user.id, ids)
    return applications.map(({ client, scopes }) => ({
      id: client.clientId,
      name: client.name,
      detail: server.scopes.visible(scopes).join(' '),
    }))
  },
  async end({ server, signedIn, texts }, ids, back) {
    // Look all of them up at once, because an ID that the user has not authorized would cost a transaction.
    const chosen = await server.authorizedApplications.among(signedIn.user.id, ids)
    let count = 0
    for (const { client } of chosen)
      if (await server.authorizedApplications.revoke(signedIn.user.id, client.clientId)) count += 1
    return {
      location: `${server.ui.links.authorized}${back}`,
      notice: { done: texts.done.revokedSome(count) },
    }
  },
})
