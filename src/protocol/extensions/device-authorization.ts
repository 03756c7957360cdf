// RFC 8628: OAuth 2.0 Device Authorization Grant

import { deviceEndpoint } from '../endpoints/device/device.ts'
import { deviceAuthorizationEndpoint } from '../endpoints/device/device-authorization.ts'
import type { Extension } from '../plug-ins.ts'

/** Authorizes command-line programs and devices without a browser. The user consents in any browser. */
export const deviceAuthorization: Extension = {
  name: 'device-authorization',
  isOn: ({ deviceAuthorization }) => deviceAuthorization,
  endpoints: [deviceAuthorizationEndpoint, deviceEndpoint],
}
