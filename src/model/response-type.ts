/** Every response type that the server implements. */
export const responseTypes = [
  'code',
  'token',
  'id_token',
  'code id_token',
  'id_token token',
] as const

/**
 * The values that an authorization response contains: a code, an access token (the implicit grant of OAuth), or an ID
 * token (OpenID Connect Core §3).
 */
export type ResponseType = (typeof responseTypes)[number]

/**
 * Returns the response types that the settings enable. With `allowFrontChannelIdTokens`, a client may also request an
 * ID token, alone or together with an allowed code or access token.
 */
export const enabledResponseTypes = ({
  allowedResponseTypes: allowed,
  allowFrontChannelIdTokens,
}: {
  readonly allowedResponseTypes: readonly ('code' | 'token')[]
  readonly allowFrontChannelIdTokens: boolean
}): readonly ResponseType[] => {
  if (!allowFrontChannelIdTokens) return allowed
  const withCode: readonly ResponseType[] = allowed.includes('code') ? ['code id_token'] : []
  const withToken: readonly ResponseType[] = allowed.includes('token') ? ['id_token token'] : []
  return [...allowed, 'id_token', ...withCode, ...withToken]
}

/** No response type is longer. */
const maxLength = 50

const sorted = (text: string): string => text.split(' ').sort().join(' ')

/** Returns the response type with these values, in any order (RFC 6749 §3.1.1); undefined for an unknown type. */
export const responseTypeNamed = (text: string): ResponseType | undefined => {
  if (text.length > maxLength) return undefined
  const named = sorted(text)
  return responseTypes.find((type) => sorted(type) === named)
}

const returns =
  (value: string) =>
  (type: string): boolean =>
    type.split(' ').includes(value)

/** Returns whether the authorization response contains a code. */
export const returnsCode = returns('code')
/** Returns whether the authorization response contains an access token. */
export const returnsAccessToken = returns('token')
/** Returns whether the authorization response contains an ID token. */
export const returnsIdToken = returns('id_token')

/** Returns the grant types that a client needs for a response type. OpenID Connect Registration §2. */
export const grantTypesOf = (type: string): readonly string[] => [
  ...(returnsCode(type) ? ['authorization_code'] : []),
  ...(returnsAccessToken(type) || returnsIdToken(type) ? ['implicit'] : []),
]

/** Returns whether one of the response types needs the grant type `implicit`. */
export const needImplicit = (types: readonly string[]): boolean =>
  types.some((type) => grantTypesOf(type).includes('implicit'))
