import { InvalidField } from '../model/invalid-field.ts'
import { addresses } from '../pages/addresses.ts'
import { selected, selection } from '../pages/shapes/applications.ts'
import { listIn } from '../protocol/endpoints/forms/form.ts'
import { inQuery } from '../protocol/openapi/schema.ts'
import { backIn } from './arranged-list.ts'
import { pageSize } from './list-page.ts'
import { respond, settingsPage } from './settings-page.ts'

/** Revokes several authorized applications after the user has confirmed the selection. */
export const selectedApplicationsPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/authorized/selected/`,
  operations: () => ({
    get: {
      operationId: 'getSelectedApplications',
      summary: 'Returns the names of authorized applications before their revocation',
      answer: 'The known applications.',
      view: selected,
      query: [inQuery('id', 'The ID of a client; may be repeated.')],
    },
    post: { operationId: 'revokeSelectedApplications', summary: 'Revokes several applications' },
  }),
  async show(request, refused) {
    const { http, server, signedIn } = request
    const params = refused?.params ?? http.queryParameters()
    const chosen = await server.authorizedApplications.among(
      signedIn.user.id,
      listIn(params, 'id').slice(0, pageSize),
    )
    const to = addresses(server.ui.links)
    const back = backIn(params.repeated('back')[0])
    const entries = chosen.map(({ client, scopes }) => ({
      id: client.clientId,
      name: client.name,
      detail: server.scopes.visible(scopes).join(' '),
    }))
    const view = {
      kind: 'applications' as const,
      action: to.selectedApplications,
      cancel: `${to.authorized}${back}`,
      back,
      entries,
      problem: refused?.problem,
    }
    const json = () => ({ selected: entries.map(({ id, name }) => ({ id, name })) })
    return respond(request, 'endSelected', { view, json, refused })
  },
  form: selection,
  async change({ server, signedIn, texts }, params) {
    const ids = [...new Set(listIn(params, 'id'))].slice(0, pageSize)
    if (ids.length === 0)
      throw new InvalidField('id', 'id must contain at least one ID.', { problem: 'other' })
    // Look all of them up at once, because an ID that the user has not authorized would cost a transaction.
    const chosen = await server.authorizedApplications.among(signedIn.user.id, ids)
    let count = 0
    for (const { client } of chosen)
      if (await server.authorizedApplications.revoke(signedIn.user.id, client.clientId)) count += 1
    const back = backIn(params.optional('back'))
    return {
      location: `${addresses(server.ui.links).authorized}${back}`,
      notice: { done: texts.done.revokedSome(count) },
    }
  },
})
