import { isExpired } from '../model/token.ts'
import { addresses } from '../pages/addresses.ts'
import type {
  AuthorizedItem,
  ClientItem,
  DeviceItem,
  PersonalTokenItem,
} from '../pages/models/applications.ts'
import { logoUrlOf } from '../protocol/endpoints/assets/client-logo.ts'
import type { AuthorizedApplication, Device } from '../records/authorized-applications.ts'
import type { ListedClient } from '../records/clients/client-input.ts'
import type { ManagedToken } from '../records/tokens/personal-tokens.ts'
import { deviceName } from './device-name.ts'
import type { SettingsRequest } from './settings-request.ts'

/** Converts a client of the user to an item of a list. */
export const clientItem = (
  { client, users }: ListedClient,
  { server }: SettingsRequest,
): ClientItem => ({
  href: addresses(server.ui.links).client(client.clientId),
  clientId: client.clientId,
  name: client.name,
  isConfidential: client.isConfidential,
  isVerified: client.isVerified,
  isDisabled: client.isDisabled,
  createdAt: client.createdAt,
  users,
})

/** Converts a personal token to an item of a list. */
export const tokenItem = (
  managed: ManagedToken,
  { server }: SettingsRequest,
): PersonalTokenItem => {
  const { token, name, lastFour, lastUse } = managed
  return {
    id: token.id,
    href: addresses(server.ui.links).token(token.id),
    name,
    lastFour,
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
  href: addresses(server.ui.links).view(device.tokenId),
  revokeAction: addresses(server.ui.links).revoke(device.tokenId),
  browser: deviceName(device.userAgent),
  scopes: server.scopes.visible(device.scopes),
  createdAt: device.createdAt,
  lastUsedAt: device.lastUse?.at ?? null,
  lastUsedAddress: device.lastUse?.address ?? null,
})

/** The maximum length of a description in a list, in characters. The list shows only one line of the description. */
const maxListedDescription = 140

/** Converts an authorized application to an item of a list. */
export const authorizedItem = (
  application: AuthorizedApplication,
  request: SettingsRequest,
): AuthorizedItem => {
  const { client, devices, deviceCount } = application
  const { server } = request
  return {
    clientId: client.clientId,
    name: client.name,
    logo: logoUrlOf(client, server),
    description: [...client.description].slice(0, maxListedDescription).join(''),
    website: client.website,
    owner: client.maker ?? null,
    isVerified: client.isVerified || client.isInternal,
    scopes: server.scopes.visible(application.scopes),
    grantedAt: application.grantedAt,
    lastUsedAt: lastUseOf(devices),
    devices: devices.map((device) => deviceItem(device, request)),
    moreDevices: deviceCount - devices.length,
    revokeAction: addresses(server.ui.links).revokeApplication(client.clientId),
  }
}

const lastUseOf = (devices: readonly Device[]): number | null => {
  const times = devices.flatMap(({ lastUse }) => (lastUse ? [lastUse.at] : []))
  return times.length === 0 ? null : Math.max(...times)
}
