import type { JWTPayload } from 'jose'
import { Parameters } from '../../model/parameters.ts'

/** Claims that are not parameters of the request: claims about the JWT itself, and credentials of the client. */
const otherClaims = [
  ...['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti'],
  ...['client_secret', 'client_assertion', 'client_assertion_type'],
]

/** Returns the parameters of a request object. RFC 9101 §4. @throws OAuthError for too many parameters */
export const parametersIn = (claims: JWTPayload): Parameters => {
  const pairs = Object.entries(claims)
    .filter(([name]) => !otherClaims.includes(name))
    .flatMap(([name, value]) => textsOf(value).map((text): [string, string] => [name, text]))
  return new Parameters(new URLSearchParams(pairs).toString())
}

// An array of strings becomes a repeated parameter, such as `resource` (RFC 8707 §2). Numbers and objects become JSON,
// such as `claims` (OpenID Connect Core §6.1).
const textsOf = (value: unknown): readonly string[] => {
  if (value === null || value === undefined) return []
  if (typeof value === 'string') return [value]
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string')
  return isList ? value : [JSON.stringify(value)]
}
