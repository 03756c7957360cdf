// RFC 7523 §3, OpenID Connect Core §9
import type { JWTVerifyResult } from 'jose'
import { withoutClaims } from '../../crypto/jose.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type { Configuration, Environment, Identity, PlugIns } from '../server-context.ts'
import { clockSkew } from './client-jwt.ts'

const maxIdLength = 255
/** Endpoints whose URLs are accepted as the audience of an assertion. The names are those of the server metadata. */
const audienceEndpoints = [
  'token_endpoint',
  'pushed_authorization_request_endpoint',
  'device_authorization_endpoint',
  'introspection_endpoint',
  'revocation_endpoint',
]
/** The maximum lifetime of an assertion in seconds. Some libraries use one hour for every assertion. */
const maxLifetime = 3_600
const maxLifetimeInFapi2 = 600
const types = [undefined, 'jwt', 'client-authentication+jwt']

/**
 * Returns the error for an invalid assertion.
 * @param sentence the `error_description`
 */
export const refused = (sentence: string, cause?: unknown): OAuthError =>
  new OAuthError(
    'invalid_client',
    sentence,
    cause === undefined ? {} : { cause: withoutClaims(cause) },
  )

/**
 * Checks the claims of an assertion whose signature is valid. Returns the ID and the expiry of the assertion.
 * @throws OAuthError with the reason
 */
export const checkClaims = (
  { payload, protectedHeader }: JWTVerifyResult,
  server: Identity & Configuration & Environment & PlugIns,
): { readonly jti: string; readonly exp: number } => {
  const { aud, exp, iat, jti } = payload
  const now = server.clock() / 1000
  const type = protectedHeader.typ?.toLowerCase().replace(/^application\//, '')
  if (!types.includes(type))
    throw refused('The typ of the assertion must be client-authentication+jwt or JWT.')
  checkAudience(aud, server)
  if (exp === undefined) throw refused('exp is missing.')
  const lifetime = isFapi2(server) ? maxLifetimeInFapi2 : maxLifetime
  if (exp > now + lifetime + clockSkew)
    throw refused(`exp must not be more than ${lifetime} seconds ahead.`)
  if (iat !== undefined && iat > now + clockSkew) throw refused('iat is in the future.')
  if (typeof jti !== 'string' || jti === '' || jti.length > maxIdLength)
    throw refused(`jti must be a string of 1 to ${maxIdLength} characters.`)
  return { jti, exp }
}

const isFapi2 = ({ settings }: Configuration): boolean => settings.securityProfile === 'fapi2'

/**
 * Checks that the audience contains only this server. If the audience also contained another server, that server could
 * receive the assertion and replay it here (docs/decisions/0024).
 */
const checkAudience = (aud: unknown, server: Identity & Configuration & PlugIns): void => {
  const { issuer, endpoints, settings } = server
  // draft-ietf-oauth-rfc7523bis §4, FAPI 2.0 Security Profile §5.3.2.1
  if (isFapi2(server)) {
    if (aud !== issuer) throw refused(`aud must be the issuer and nothing else: ${issuer}`)
    return
  }
  // RFC 7523 §3 and RFC 9126 §2 also accept the URLs of endpoints.
  const own: readonly unknown[] = [
    issuer,
    ...endpoints
      .filter(({ advertisedAs = '' }) => audienceEndpoints.includes(advertisedAs))
      .map(({ path }) => `${issuer}${path(settings)}`),
  ]
  const audience: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  if (audience.length === 0 || !audience.every((one) => own.includes(one)))
    throw refused(
      `aud must be the issuer, ${issuer}, or the URL of an endpoint in its metadata, and nothing else.`,
    )
}
