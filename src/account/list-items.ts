import { addresses } from '../pages/addresses.ts'
import type { DeviceItem } from '../pages/models/applications.ts'
import type { Device } from '../records/authorized-applications.ts'
import { deviceName } from './device-name.ts'
import type { SettingsRequest } from './settings-request.ts'

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
