import type { Client } from '../model/client.ts'
import { countLimit } from '../model/count-limit.ts'
import { asSeen } from '../model/field-rules.ts'
import { InvalidField } from '../model/invalid-field.ts'
import type { Parameters } from '../model/parameters.ts'
import { addresses } from '../pages/addresses.ts'
import { clientChange } from '../pages/shapes/clients.ts'
import { logoUrlOf } from '../protocol/endpoints/assets/client-logo.ts'
import { notFound } from '../protocol/endpoints/responses/problem.ts'
import type { ChangeGuard } from '../records/clients/clients.ts'
import { clientFields, typedClient, valuesOf } from './client-form.ts'
import { endpointsOf, tryIt } from './developer-desk.ts'
import { checkEdit, editState } from './edit.ts'
import { showNotice } from './notice.ts'
import { overlaps } from './overlaps.ts'
import { type Refused, respond, settingsPage } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'
import { clientToWire } from './wire.ts'

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

/** Shows a client of the user. If the form was refused, the page shows the submitted values. */
export const showClient = async (
  request: SettingsRequest,
  refused?: Refused,
): Promise<Response> => {
  const { server } = request
  const client = await ownClient(request)
  const users = await client.getUsers(countLimit)
  const notice = await showNotice(request)
  const to = addresses(server.ui.links)
  const { previousClientSecretExpires: previous } = client
  const isEdit = refused?.params.repeated('name').length === 1
  const stored = valuesOf(client, server.settings)
  const view = {
    action: to.client(client.clientId),
    back: to.clients,
    resetAction: to.reset(client.clientId),
    clientId: client.clientId,
    name: client.name,
    logo: logoUrlOf(client, server),
    isConfidential: client.isConfidential,
    isVerified: client.isVerified,
    isDisabled: client.isDisabled,
    createdAt: client.createdAt,
    users,
    secretLeakedAt: client.isConfidential ? client.secretLeakedAt : null,
    previousSecretExpires: previous !== null && previous > server.clock() ? previous : null,
    overlaps,
    values: refused && isEdit ? typedClient(refused.params, server.settings) : stored,
    edit: editState(stored, refused),
    scopes: server.scopes.choices(),
    clientSecret: notice.secret ?? null,
    endpoints: endpointsOf(server),
    tryIt: tryIt(client, server, notice.secret ?? null),
    grantTypes: client.allowedGrantTypes,
    refusals: await server.refusals.list(client.clientId),
    done: notice.done,
    problem: refused?.problem,
  }
  return respond(request, 'client', {
    view,
    json: () => clientToWire(client, users, server),
    refused,
    notice,
  })
}

/** Shows, changes and deletes a client of the user. */
export const clientPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/clients/:client_id/`,
  show: showClient,
  form: clientChange,
  keepsDraft: true,
  async change(request, params) {
    const { server, texts } = request
    const client = await ownClient(request)
    const to = addresses(server.ui.links)
    if (params.optional('delete') === 'yes') {
      checkConfirmation(params, client)
      await server.clients.delete(client.clientId)
      return { location: to.applications, notice: { done: texts.done.clientDeleted(client.name) } }
    }
    const users = await client.getUsers(countLimit)
    const fields = clientFields(params, request, client)
    // A public client that becomes confidential needs a secret. For a browser, this request creates the secret. A script
    // has to reset the secret in a separate request.
    const needsSecret = fields.isConfidential && !client.isConfidential && !request.asJson
    const { settings } = server
    const guard: ChangeGuard = (before, losses) =>
      checkEdit(
        params,
        { stored: valuesOf(before, settings), typed: typedClient(params, settings) },
        losses,
      )
    const change = [client.clientId, fields, undefined, guard] as const
    const { client: changed, clientSecret: secret } = needsSecret
      ? await server.clients.updateWithSecret(...change)
      : { client: await server.clients.update(...change), clientSecret: undefined }
    return {
      location: to.client(client.clientId),
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
