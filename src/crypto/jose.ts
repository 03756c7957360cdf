import { errors } from 'jose'

/**
 * Returns a copy of a jose error without the claims of the JWT, because the error is logged. Returns any other error
 * unchanged.
 */
export const withoutClaims = (error: unknown): unknown => {
  if (!(error instanceof errors.JOSEError)) return error
  const { name, message, stack } = error
  return Object.assign(new Error(message), { name, stack })
}

/** The supported signature algorithms, which are asymmetric and strong (RFC 8725 §3.2, §3.5). */
const all = ['ES256', 'EdDSA', 'Ed25519', 'PS256', 'RS256'] as const

/** Returns the JWS algorithms that clients may use. The FAPI 2.0 Security Profile excludes RS256 (§5.4.1). */
export const signatureAlgorithms = ({
  securityProfile,
}: {
  readonly securityProfile: string
}): readonly string[] =>
  securityProfile === 'fapi2' ? all.filter((name) => name !== 'RS256') : all

/**
 * Returns the values of `request_object_signing_alg` that a client may register. The value `none` permits unsigned
 * request objects (OpenID Connect Core §6.1), which RFC 9101 §4 and the FAPI 2.0 Security Profile exclude.
 */
export const requestObjectAlgorithms = (settings: {
  readonly securityProfile: string
  readonly openidConnect: boolean
}): readonly string[] => {
  const mayBeUnsigned = settings.openidConnect && settings.securityProfile !== 'fapi2'
  return [...signatureAlgorithms(settings), ...(mayBeUnsigned ? ['none'] : [])]
}
