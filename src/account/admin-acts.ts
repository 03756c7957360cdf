import type { Client } from '../model/client.ts'
import { InvalidField } from '../model/invalid-field.ts'
import type { Parameters } from '../model/parameters.ts'
import { clientActs } from '../pages/shapes/administration.ts'
import { notFound } from '../protocol/endpoints/responses/problem.ts'
import { checkConfirmation } from './client.ts'
import type { SettingsRequest } from './settings-request.ts'
import { asTokenId } from './settings-request.ts'

/** Returns the application with this ID. @throws OAuthError 404 if the client is unknown or belongs to a personal token */
export const anyClient = async (clientId: string, { server }: SettingsRequest): Promise<Client> => {
  const client = await server.clients.find(clientId)
  if (!client || client.isPersonal) throw notFound()
  return client
}

/** Performs an administrator's action on an application. Returns the sentence that confirms the action. */
export const actOnClient = async (
  clientId: string,
  request: SettingsRequest,
  params: Parameters,
): Promise<string> => {
  const { http, server, signedIn, texts } = request
  const act = actIn(params)
  const client = await anyClient(clientId, request)
  if (act === 'delete') checkConfirmation(params, client)
  const actor = { user: signedIn.user, address: http.address }
  if (act === 'set_default_resource') {
    const resource = params.optional('default_resource') ?? null
    await server.administration.setDefaultResource(client.clientId, resource, actor)
  } else
    await server.administration.actOnClient(client.clientId, act, actor, params.optional('seen'))
  const { done } = texts
  return {
    verify: done.clientVerified,
    unverify: done.clientUnverified,
    fetch_logo: done.logoRequested,
    disable: done.clientDisabled,
    enable: done.clientEnabled,
    pin: done.clientPinned,
    unpin: done.clientUnpinned,
    end_tokens: done.applicationTokensEnded,
    set_default_resource: done.defaultResourceChanged,
    delete: done.clientDeleted,
  }[act](client.name)
}

/** Deletes a token for an administrator. Returns the sentence that confirms the deletion. */
export const deleteToken = async (
  { http, server, signedIn, texts }: SettingsRequest,
  params: Parameters,
): Promise<string> => {
  const id = asTokenId(params.required('token_id'))
  if (params.optional('act') !== 'delete')
    throw new InvalidField('act', 'act must be delete for a token.')
  const found = await server.tokens.get(id)
  if (!found) throw notFound()
  const client = await server.clients.find(found.clientId)
  await server.administration.deleteToken(id, { user: signedIn.user, address: http.address })
  return texts.done.tokenDeleted(client?.name ?? String(id))
}

const actIn = (params: Parameters): (typeof clientActs)[number] => {
  const act = clientActs.find((known) => known === params.optional('act'))
  if (!act) throw new InvalidField('act', `act must be one of ${clientActs.join(', ')}.`)
  return act
}
