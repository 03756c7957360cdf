// RFC 8628: OAuth 2.0 Device Authorization Grant

import { deviceEndpoint } from '../endpoints/device/device.ts'
import { deviceAuthorizationEndpoint } from '../endpoints/device/device-authorization.ts'
import type { Extension } from '../plug-ins.ts'

/** For devices without a browser, and programs without a window: the user agrees elsewhere. */
export const deviceAuthorization: Extension = {
  name: 'device-authorization',
  isOn: ({ deviceAuthorization }) => deviceAuthorization,
  endpoints: [deviceAuthorizationEndpoint, deviceEndpoint],
}
