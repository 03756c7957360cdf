import { OAuthError } from '../../model/oauth-error.ts'
import {
  type DeviceAuthorization,
  deviceAuthorizations,
  keptUntil,
} from '../../records/device-authorizations.ts'
import { revokeReusedCode } from '../../records/tokens/end-tokens.ts'
import { checkProof, grantingUser, unknownCode } from '../code-redemption.ts'
import type { BuiltInGrant } from '../plug-ins.ts'
import type { ServerContext } from '../server-context.ts'

const kind = 'device_code'

/** Redeems a device code. The device polls until the user has decided in a browser. RFC 8628 §3.4. */
export const deviceCode: BuiltInGrant = {
  type: 'urn:ietf:params:oauth:grant-type:device_code',
  isOn: (settings) => settings.deviceAuthorization,
  worksWithoutConsent: false,
  parameters: ['device_code', 'code_verifier'],
  async redeem(request, server) {
    const { client, params, http, now } = request
    const value = params.required('device_code')
    const devices = deviceAuthorizations(server)
    const pendingCode = await devices.find(value)
    if (pendingCode?.clientId !== client.clientId)
      throw await unknownCode(kind, value, request, server)
    await checkProof(params, pendingCode, server, {
      countFailure: () => devices.countFailure(value, pendingCode),
      delete: () => devices.requests.delete(value),
    })
    // If an expired code was redeemed earlier, the request is a replay, so revoke the tokens of the code.
    if (pendingCode.expiresAt <= now)
      throw (await revokeReusedCode(kind, value, server.records)) ?? expired()
    const decision = await devices.decision(value)
    if (!decision) throw await pending(value, pendingCode, server)
    const { userId, granted } = decision
    if (!granted) {
      const description = 'The user refused the request.'
      throw new OAuthError('access_denied', description, { status: 400 })
    }
    const { consentId, scopes } = granted
    // Do not bind the tokens to the browser session, so that they remain valid after the user logs out in the browser.
    const sessionId = null
    const grant = { userId, consentId, sessionId, scopes }
    const found = await grantingUser({ kind, value }, grant, request, server)
    const { clientId, redirectUri, redirectUriGiven, extensions } = pendingCode
    return {
      type: 'user',
      client,
      ...found,
      scopes,
      refreshable: true,
      // Store the user agent of the device, because users see the device in their list of authorized applications.
      under: { consentId, sessionId, userAgent: http.userAgent },
      code: {
        kind,
        value,
        binding: { clientId, redirectUri, redirectUriGiven, extensions },
        keptUntil: keptUntil(pendingCode),
      },
    }
  },
}

const expired = (): OAuthError => new OAuthError('expired_token', 'The device code has expired.')

// RFC 8628 §3.5
const pending = async (
  value: string,
  pendingCode: DeviceAuthorization,
  server: ServerContext,
): Promise<OAuthError> =>
  (await deviceAuthorizations(server).isTooEarly(value, pendingCode))
    ? new OAuthError(
        'slow_down',
        'The device is polling too often. Increase the polling interval by 5 seconds.',
      )
    : new OAuthError('authorization_pending', 'The user has not decided yet.')
