import type { Authorization } from '../../model/authorization.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import { isWithin } from '../../model/scope.ts'
import type { UserId } from '../../model/user.ts'
import {
  type DeviceAuthorization,
  type DeviceDecision,
  deviceAuthorizations,
  keptUntil,
} from '../../records/device-authorizations.ts'
import type { TokenRequest } from '../plug-ins/grant.ts'
import type { BuiltInGrant } from '../plug-ins.ts'
import type { ServerContext } from '../server-context.ts'

/** So many wrong verifiers may the rightful client try; then the code is worthless. */
const mostFailures = 20

const refused = (cause?: unknown): OAuthError =>
  new OAuthError('invalid_grant', 'The device code is not valid.', { cause })

/** A device asks whether its user has agreed elsewhere, until it is so. RFC 8628 §3.4. */
export const deviceCode: BuiltInGrant = {
  type: 'urn:ietf:params:oauth:grant-type:device_code',
  isOn: (settings) => settings.deviceAuthorization,
  parameters: ['device_code', 'code_verifier'],
  async redeem(request, server) {
    const { client, params, http, now } = request
    const value = params.required('device_code')
    const devices = deviceAuthorizations(server)
    const asked = await devices.find(value)
    if (asked?.clientId !== client.clientId) throw await unknownCode(value, request, server)
    await checkProof(value, asked, request, server)
    // A code that was redeemed in time is no expired one.
    if (asked.expiresAt <= now) throw (await replayOf(value, server)) ?? expired()
    const decision = await devices.decision(value)
    if (!decision) throw await pending(value, asked, server)
    const { userId, granted } = decision
    if (!granted) {
      const description = 'The user refused the request.'
      throw new OAuthError('access_denied', description, { status: 400 })
    }
    const subject = await grantingUser(userId, granted, request, server).catch(
      async (error: unknown) => {
        // Who has proved everything for a used code is a replay, whatever else happened since.
        throw (error instanceof OAuthError && (await replayOf(value, server))) || error
      },
    )
    const { clientId, redirectUri, redirectUriGiven, extensions } = asked
    return {
      type: 'user',
      client,
      subject,
      scopes: granted.scopes,
      refreshable: true,
      // The user may well have logged out in the browser that was at hand; and the device is not that browser.
      under: { consentId: granted.consentId, sessionId: null, userAgent: http.userAgent },
      code: {
        kind: 'device_code',
        value,
        binding: { clientId, redirectUri, redirectUriGiven, extensions },
        keptUntil: keptUntil(asked),
      },
    }
  },
}

const expired = (): OAuthError => new OAuthError('expired_token', 'The device code has expired.')

// RFC 8628 §3.5
const pending = async (
  value: string,
  asked: DeviceAuthorization,
  server: ServerContext,
): Promise<OAuthError> =>
  (await deviceAuthorizations(server).isTooEarly(value, asked))
    ? new OAuthError('slow_down', 'The device polls too fast: it has to wait 5 seconds longer.')
    : new OAuthError('authorization_pending', 'The user has not decided yet.')

const checkProof = async (
  value: string,
  asked: DeviceAuthorization,
  { params }: TokenRequest,
  server: ServerContext,
): Promise<void> => {
  try {
    for (const extension of server.extensions) extension.onCodeRedemption?.(params, asked)
  } catch (error) {
    const devices = deviceAuthorizations(server)
    const failures = await devices.countFailure(value, asked)
    if (failures >= mostFailures) await devices.delete(value)
    throw error
  }
}

/** The user who agreed, if nothing has happened since that takes it back. */
const grantingUser = async (
  userId: UserId,
  { consentId, scopes }: NonNullable<DeviceDecision['granted']>,
  { client }: TokenRequest,
  server: ServerContext,
) => {
  const user = await server.users.find(userId)
  if (!user?.active) throw refused('the user is gone, or not active')
  const consent = await server.consents.find(userId, client.clientId)
  if (consent?.id !== consentId) throw refused('the consent was withdrawn')
  if (!isWithin(scopes, client.scopeCeiling)) throw refused('a scope is gone')
  return user
}

// A redeemed code leaves a tombstone: the authorization that came of it.
const usedFor = (value: string, server: ServerContext): Promise<Authorization | undefined> =>
  server.store.authorizations.findByCode(deviceAuthorizations(server).digest(value))

/** What was issued from a used code is revoked; undefined for a code that was never redeemed. */
const replayOf = async (value: string, server: ServerContext): Promise<OAuthError | undefined> =>
  (await usedFor(value, server)) && server.tokens.revokeReusedCode('device_code', value)

// Nothing is kept of it: another client's, long expired, never there, or redeemed. Only in the last case, only who
// proves everything once more is a replay that takes the tokens along.
const unknownCode = async (
  value: string,
  { client, params }: TokenRequest,
  server: ServerContext,
): Promise<OAuthError> => {
  const authorization = await usedFor(value, server)
  if (!authorization?.code || authorization.revokedAt !== null) return refused()
  if (authorization.clientId !== client.clientId) return refused()
  for (const extension of server.extensions)
    extension.onCodeRedemption?.(params, authorization.code)
  return server.tokens.revokeReusedCode('device_code', value)
}
