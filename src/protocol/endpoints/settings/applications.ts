import { isExpired } from '../../../model/token.ts'
import type {
  AuthorizedItem,
  ClientItem,
  DeviceItem,
  PersonalTokenItem,
} from '../../../pages/models/applications.ts'
import type { AuthorizedApplication, Device } from '../../../records/authorized-applications.ts'
import type { ListedClient } from '../../../records/clients/client-input.ts'
import type { ManagedToken } from '../../../records/tokens/personal-tokens.ts'
import { addresses } from './addresses.ts'
import { deviceName } from './device-name.ts'
import { cursorOf, listed } from './list-page.ts'
import { takeNotice } from './notice.ts'
import type { Refused } from './settings-page.ts'
import { respond, settingsPage } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'
import { authorizedToWire, clientToWire, personalTokenToWire } from './wire.ts'

/** Shows the user's own applications, personal tokens and authorized applications. */
export const showApplications = async (
  request: SettingsRequest,
  refused?: Refused,
): Promise<Response> => {
  const { server, signedIn } = request
  const { id } = signedIn.user
  await server.operations.flushTokenUses()
  const to = addresses(server.ui)
  const [clients, tokens, authorized] = await Promise.all([
    server.clients.ofOwner(id, cursorOf(request, 'clients_after')),
    server.personalTokens.listByUser(id, cursorOf(request, 'tokens_after')),
    server.authorizedApplications.listByUser(id, cursorOf(request, 'authorized_after')),
  ])
  // Reading the notice deletes it. Do so last: if a later read failed, the notice would be lost.
  const notice = await takeNotice(request)
  const page = {
    clients: listed(request, 'clients_after', clients, (item) => clientItem(item, request)),
    personalTokens: listed(request, 'tokens_after', tokens, (item) => tokenItem(item, request)),
    authorized: listed(request, 'authorized_after', authorized, (item) =>
      authorizedItem(item, request),
    ),
  }
  const view = {
    ...page,
    newClient: to.newClient,
    newToken: to.newToken,
    revokeAllAction: to.revokeAll,
    done: notice.done,
    problem: refused?.problem,
  }
  const json = () => ({
    clients: clients.items.map(({ client, users }) => clientToWire(client, users, server.scopes)),
    personal_tokens: tokens.items.map(personalTokenToWire),
    authorized: authorized.items.map((item) => authorizedToWire(item, server.scopes)),
    next: {
      clients: page.clients.next,
      personal_tokens: page.personalTokens.next,
      authorized: page.authorized.next,
    },
  })
  return respond(request, 'applications', { view, json, refused })
}

export const applicationsPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/`,
  show: showApplications,
})

const clientItem = ({ client, users }: ListedClient, { server }: SettingsRequest): ClientItem => ({
  href: addresses(server.ui).client(client.clientId),
  clientId: client.clientId,
  name: client.name,
  isConfidential: client.isConfidential,
  isVerified: client.isVerified,
  isDisabled: client.isDisabled,
  createdAt: client.createdAt,
  users,
})

const tokenItem = (managed: ManagedToken, { server }: SettingsRequest): PersonalTokenItem => {
  const { token, name, lastUse } = managed
  return {
    href: addresses(server.ui).token(token.id),
    name,
    scopes: token.getVisibleScopes(),
    createdAt: token.createdAt,
    expires: token.expires,
    isExpired: isExpired(token.expires, server.clock()),
    lastUsedAt: lastUse?.at ?? null,
    lastUsedAddress: lastUse?.address ?? null,
  }
}

/** Converts a device to an item of a list. */
export const deviceItem = (device: Device, { server }: SettingsRequest): DeviceItem => ({
  href: addresses(server.ui).view(device.tokenId),
  revokeAction: addresses(server.ui).revoke(device.tokenId),
  browser: deviceName(device.userAgent),
  scopes: server.scopes.visible(device.scopes),
  createdAt: device.createdAt,
  lastUsedAt: device.lastUse?.at ?? null,
  lastUsedAddress: device.lastUse?.address ?? null,
})

const authorizedItem = (
  application: AuthorizedApplication,
  request: SettingsRequest,
): AuthorizedItem => {
  const { client, devices, deviceCount } = application
  const { server } = request
  return {
    clientId: client.clientId,
    name: client.name,
    website: client.website,
    owner: client.maker ?? null,
    isVerified: client.isVerified || client.isInternal,
    scopes: server.scopes.visible(application.scopes),
    grantedAt: application.grantedAt,
    lastUsedAt: lastUseOf(devices),
    devices: devices.map((device) => deviceItem(device, request)),
    moreDevices: deviceCount - devices.length,
    revokeAction: addresses(server.ui).revokeApplication(client.clientId),
  }
}

const lastUseOf = (devices: readonly Device[]): number | null => {
  const times = devices.flatMap(({ lastUse }) => (lastUse ? [lastUse.at] : []))
  return times.length === 0 ? null : Math.max(...times)
}
