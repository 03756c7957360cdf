import type { Client } from '../../../model/client.ts'
import { countLimit } from '../../../model/count-limit.ts'
import { asSeen } from '../../../model/field-rules.ts'
import { InvalidField } from '../../../model/invalid-field.ts'
import type { Parameters } from '../../../model/parameters.ts'
import { clientChange } from '../../openapi/schemas/clients.ts'
import { notFound } from '../responses/problem.ts'
import { addresses } from './addresses.ts'
import { clientFields, typedClient, valuesOf } from './client-form.ts'
import { takeNotice } from './notice.ts'
import { overlaps } from './overlaps.ts'
import { answer, type Refused, settingsPage } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'
import { tryIt } from './try-it.ts'
import { clientToWire } from './wire.ts'

/**
 * The client that the address names, if it is the user's. An internal one is the host's: code alone changes it.
 * @throws OAuthError 404
 */
export const ownClient = async ({ http, server, signedIn }: SettingsRequest): Promise<Client> => {
  const client = await server.clients.find(http.param('client_id'))
  const isHidden = !client || client.isPersonal || client.isInternal
  if (isHidden || client.userId !== signedIn.user.id) throw notFound()
  return client
}

/** A client of the user, with what was typed where a form could not be taken. */
export const showClient = async (
  request: SettingsRequest,
  refused?: Refused,
): Promise<Response> => {
  const { server } = request
  const client = await ownClient(request)
  const users = await client.getUsers(countLimit)
  const notice = await takeNotice(request)
  const to = addresses(server.ui)
  const { previousClientSecretExpires: previous } = client
  const isEdit = refused?.params.repeated('name').length === 1
  const view = {
    action: to.client(client.clientId),
    back: to.applications,
    resetAction: to.reset(client.clientId),
    clientId: client.clientId,
    name: client.name,
    isConfidential: client.isConfidential,
    isVerified: client.isVerified,
    isDisabled: client.isDisabled,
    createdAt: client.createdAt,
    users,
    secretLeakedAt: client.isConfidential ? client.secretLeakedAt : null,
    previousSecretExpires: previous !== null && previous > server.clock() ? previous : null,
    overlaps,
    values: refused && isEdit ? typedClient(refused.params) : valuesOf(client),
    scopes: server.scopes.choices(),
    clientSecret: notice.secret ?? null,
    tryIt: tryIt(client, server),
    done: notice.done,
    problem: refused?.problem,
  }
  return answer(request, 'client', {
    view,
    json: () => clientToWire(client, users, server.scopes),
    refused,
  })
}

/** A client of the user: to look at, to change, to delete. */
export const clientPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/clients/:client_id/`,
  show: showClient,
  form: clientChange,
  async change(request, params) {
    const { server, texts } = request
    const client = await ownClient(request)
    const to = addresses(server.ui)
    if (params.optional('delete') === 'yes') {
      checkConfirmation(params, client)
      await server.clients.delete(client.clientId)
      return { location: to.applications, notice: { done: texts.done.clientDeleted(client.name) } }
    }
    const users = await client.getUsers(countLimit)
    const fields = clientFields(params, request, client)
    // Nobody ever saw the secret of a public client; now it needs one. A script asks for it by itself.
    const needsSecret = fields.isConfidential && !client.isConfidential && !request.asJson
    const { client: changed, clientSecret: secret } = needsSecret
      ? await server.clients.updateWithSecret(client.clientId, fields)
      : { client: await server.clients.update(client.clientId, fields), clientSecret: undefined }
    return {
      location: to.client(client.clientId),
      notice: { done: texts.done.clientSaved, ...(secret && { secret }) },
      once: texts.client.secretOnce,
      json: clientToWire(changed, users, server.scopes),
    }
  },
})

/** What cannot be taken back is confirmed by typing the name. @throws InvalidField */
export const checkConfirmation = (
  params: Parameters,
  { name }: { readonly name: string },
): void => {
  if (asSeen(params.optional('confirm_name') ?? '') === asSeen(name)) return
  throw new InvalidField('confirm_name', 'confirm_name must be the name of the application.', {
    problem: 'confirmName',
  })
}
