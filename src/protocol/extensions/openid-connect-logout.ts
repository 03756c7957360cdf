// OpenID Connect RP-Initiated Logout 1.0, OpenID Connect Back-Channel Logout 1.0
import { endSessionEndpoint } from '../openid/end-session.ts'
import type { Extension } from '../plug-ins.ts'

export const openidConnectLogout: Extension = {
  name: 'openid-connect-logout',
  isOn: (settings) => settings.openidConnect,
  endpoints: [endSessionEndpoint],
  metadata({ issuer, settings, ui: { links } }) {
    // If the application has its own login and no logout URL, the endpoint returns 404, so do not publish the endpoint.
    const canLogOut = links.logout !== null || links.hostLogout !== null
    return {
      ...(canLogOut && { end_session_endpoint: `${issuer}${endSessionEndpoint.path(settings)}` }),
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
    }
  },
}
