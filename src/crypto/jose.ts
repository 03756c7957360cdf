import { errors } from 'jose'

/** An error of jose as a cause for the log: its sentence, without the claims of the JWT that jose puts beside it. */
export const withoutClaims = (error: unknown): unknown => {
  if (!(error instanceof errors.JOSEError)) return error
  const { name, message, stack } = error
  return Object.assign(new Error(message), { name, stack })
}

/** Signatures that clients may make: asymmetric ones alone, of keys that are long enough (RFC 8725 §3.2, §3.5). */
const all = ['ES256', 'EdDSA', 'Ed25519', 'PS256', 'RS256'] as const

/** The JWS algorithms by which clients may sign. The FAPI 2.0 Security Profile leaves RS256 out (§5.4.1). */
export const signatureAlgorithms = ({
  securityProfile,
}: {
  readonly securityProfile: string
}): readonly string[] =>
  securityProfile === 'fapi2' ? all.filter((name) => name !== 'RS256') : all
