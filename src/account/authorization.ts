import type { Client } from '../model/client.ts'
import { addresses } from '../pages/addresses.ts'
import { device } from '../pages/shapes/applications.ts'
import { id } from '../pages/shapes/shape.ts'
import { notFound } from '../protocol/endpoints/responses/problem.ts'
import { inPath } from '../protocol/openapi/schema.ts'
import type { Device } from '../records/authorized-applications.ts'
import { applicationsPage } from './applications.ts'
import { backIn } from './arranged-list.ts'
import { resource } from './resource.ts'
import { settingsPage } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'
import { tokenIdOf } from './settings-request.ts'
import { applicationToWire, deviceToWire } from './wire.ts'

const tokenOfDevice = [inPath('id', 'The ID of the token of a device.', id)]

const ownDevice = async (request: SettingsRequest): Promise<Device> => {
  const { server, signedIn } = request
  const device = await server.authorizedApplications.device(signedIn.user.id, tokenIdOf(request))
  if (!device) throw notFound()
  return device
}

const clientOf = async (clientId: string, { server }: SettingsRequest): Promise<Client> => {
  const client = await server.clients.find(clientId)
  if (!client) throw notFound()
  return client
}

/** Shows one authorization of an application. */
export const authorizationPage = resource({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/tokens/:id/view/`,
  operations: () => ({
    parameters: tokenOfDevice,
    get: {
      operationId: 'getAuthorization',
      summary: 'Returns an authorization of an application',
      answer: 'The authorization.',
    },
  }),
  page: 'authorization',
  view: device,
  async read(request) {
    const { server } = request
    await server.operations.flushTokenUses()
    const found = await ownDevice(request)
    const client = await clientOf(found.clientId, request)
    return {
      view: deviceToWire(found, server.scopes),
      forPage: () => ({
        application: applicationToWire(client, server),
        permissions: found.scopes.flatMap((scope) => server.scopes.get(scope) ?? []),
      }),
    }
  },
})

/** Revokes one authorization of an application. */
export const revokeTokenPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/tokens/:id/revoke/`,
  operations: () => ({
    parameters: tokenOfDevice,
    post: {
      operationId: 'revokeAuthorization',
      summary: 'Revokes an authorization of an application',
    },
  }),
  isShown: false,
  show: applicationsPage.show,
  async change(request) {
    const { server, texts } = request
    const device = await ownDevice(request)
    const client = await clientOf(device.clientId, request)
    const token = await server.tokens.get(device.tokenId)
    if (!token) throw notFound()
    await server.tokens.revoke(token)
    return {
      location: addresses(server.ui.links).applications,
      notice: { done: texts.done.deviceRevoked(client.name) },
    }
  },
})

/** Revokes all authorizations of an application. */
export const revokeApplicationPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/authorized/:client_id/revoke/`,
  operations: () => ({
    parameters: [inPath('client_id', 'The ID of a client that the user authorized.')],
    post: {
      operationId: 'revokeApplication',
      summary: 'Revokes all authorizations of an application',
    },
  }),
  isShown: false,
  show: applicationsPage.show,
  async change(request, params) {
    const { http, server, signedIn, texts } = request
    const to = addresses(server.ui.links)
    const back = params.repeated('back')[0]
    const clientId = http.param('client_id')
    const client = await clientOf(clientId, request)
    if (!(await server.authorizedApplications.revoke(signedIn.user.id, clientId))) throw notFound()
    return {
      location: back === undefined ? to.applications : `${to.authorized}${backIn(back)}`,
      notice: { done: texts.done.revoked(client.name) },
    }
  },
})

/** Revokes all authorizations of all applications. */
export const revokeAllPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/authorized/revoke/`,
  operations: () => ({
    post: {
      operationId: 'revokeAllApplications',
      summary: 'Revokes all authorizations of all applications',
    },
  }),
  isShown: false,
  show: applicationsPage.show,
  async change({ server, signedIn, texts }) {
    await server.authorizedApplications.revokeAll(signedIn.user.id)
    return {
      location: addresses(server.ui.links).applications,
      notice: { done: texts.done.revokedAll },
    }
  },
})
