import type { Client } from '../model/client.ts'
import { countLimit } from '../model/count-limit.ts'
import { asSeen } from '../model/field-rules.ts'
import { InvalidField } from '../model/invalid-field.ts'
import type { Parameters } from '../model/parameters.ts'
import { addresses } from '../pages/addresses.ts'
import { clientChange, clientForm } from '../pages/forms/client.ts'
import { client } from '../pages/shapes/clients.ts'
import { component, done } from '../pages/shapes/shape.ts'
import { logoUrlOf } from '../protocol/endpoints/assets/client-logo.ts'
import { notFound } from '../protocol/endpoints/responses/problem.ts'
import { either, inPath } from '../protocol/openapi/schema.ts'
import type { ChangeGuard } from '../records/clients/clients.ts'
import { clientFields, shownFields } from './client-form.ts'
import { endpointsOf, tryIt } from './developer-desk.ts'
import { checkEdit, editState } from './edit.ts'
import { resource } from './resource.ts'
import type { SettingsRequest } from './settings-request.ts'
import { clientToWire } from './wire.ts'

/** The parameter of the path, for the OpenAPI document. */
export const ofClient = [inPath('client_id', 'The ID of a client of the user.')]

/**
 * Returns the client in the path if the user owns it. Users cannot manage internal clients, because only the host's
 * code may change them.
 * @throws OAuthError 404
 */
export const ownClient = async ({ http, server, signedIn }: SettingsRequest): Promise<Client> => {
  const client = await server.clients.find(http.param('client_id'))
  const isHidden = !client || client.isPersonal || client.isInternal
  if (isHidden || client.userId !== signedIn.user.id) throw notFound()
  return client
}

/** Shows, changes and deletes a client of the user. */
export const clientPage = resource({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/clients/:client_id/`,
  operations: (server) => ({
    parameters: ofClient,
    get: {
      operationId: 'getClient',
      summary: 'Returns a client application',
      answer: 'The client.',
    },
    post: {
      operationId: 'changeClient',
      summary: 'Changes or deletes a client application',
      form: component('ClientChange', shownFields(clientChange, server)),
      isBodyOptional: true,
      answer: 'The changed client, or an empty object after a deletion.',
      view: either(client, done),
    },
  }),
  page: 'client',
  view: client,
  async read(request, refused) {
    const { server } = request
    const own = await ownClient(request)
    const view = clientToWire(own, await own.getUsers(countLimit), server)
    return {
      view,
      async forPage({ secret }) {
        const isEdit = refused?.params.repeated('name').length === 1
        const stored = clientForm.stored(view)
        return {
          logo: logoUrlOf(own, server),
          grantTypes: own.allowedGrantTypes,
          values: refused && isEdit ? clientForm.typed(refused.params) : stored,
          edit: editState(stored, refused),
          choices: server.scopes.choices(),
          hasLogout: server.settings.openidConnect,
          clientSecret: secret ?? null,
          endpoints: endpointsOf(server),
          tryIt: tryIt(own, server, secret ?? null),
          refusals: await server.refusals.list(own.clientId),
        }
      },
    }
  },
  form: clientChange,
  keepsDraft: true,
  async change(request, params) {
    const { server, texts } = request
    const before = await ownClient(request)
    const to = addresses(server.ui.links)
    if (params.optional('delete') === 'yes') {
      checkConfirmation(params, before)
      await server.clients.delete(before.clientId)
      return { location: to.applications, notice: { done: texts.done.clientDeleted(before.name) } }
    }
    const users = await before.getUsers(countLimit)
    const fields = clientFields(params, request, before)
    // A public client that becomes confidential needs a secret. For a browser, this request creates the secret. A script
    // has to reset the secret in a separate request.
    const needsSecret = fields.isConfidential && !before.isConfidential && !request.asJson
    const guard: ChangeGuard = (current, losses) => {
      const stored = clientForm.stored(clientToWire(current, users, server))
      checkEdit(params, { stored, typed: clientForm.typed(params) }, losses)
    }
    const change = [before.clientId, fields, undefined, guard] as const
    const { client: changed, clientSecret: secret } = needsSecret
      ? await server.clients.updateWithSecret(...change)
      : { client: await server.clients.update(...change), clientSecret: undefined }
    return {
      location: to.client(before.clientId),
      notice: { done: texts.done.clientSaved, ...(secret && { secret }) },
      once: texts.client.secretOnce,
      json: clientToWire(changed, users, server),
    }
  },
})

/** Checks that the user typed the client's name to confirm its deletion. @throws InvalidField */
export const checkConfirmation = (
  params: Parameters,
  { name }: { readonly name: string },
): void => {
  if (asSeen(params.optional('confirm_name') ?? '') === asSeen(name)) return
  throw new InvalidField('confirm_name', 'confirm_name must be the name of the application.', {
    problem: 'confirmName',
  })
}
