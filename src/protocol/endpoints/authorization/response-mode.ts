import type { ResponseMode } from '../../../model/authorization-request.ts'
import { OAuthError } from '../../../model/oauth-error.ts'
import type { ResponseType } from '../../../model/response-type.ts'

/** The response modes of each response type, the default first. A token is never sent in a query. */
const modesOf: Readonly<Record<ResponseType, readonly [ResponseMode, ...ResponseMode[]]>> = {
  code: ['query', 'form_post'],
  token: ['fragment', 'form_post'],
  id_token: ['fragment', 'form_post'],
  'code id_token': ['fragment', 'form_post'],
  'id_token token': ['fragment', 'form_post'],
}

/** Returns all response modes of the given response types. RFC 8414 §2. */
export const supportedResponseModes = (types: readonly ResponseType[]): readonly ResponseMode[] => [
  ...new Set(types.flatMap((type) => modesOf[type])),
]

/**
 * Returns the requested response mode, or the default mode of the response type.
 * @param requested the parameter `response_mode` (OAuth 2.0 Multiple Response Types §2.1)
 * @throws OAuthError `invalid_request` if the response type does not support the requested mode
 */
export const responseModeFor = (
  requested: string | undefined,
  type: ResponseType,
): ResponseMode => {
  const [usual, ...others] = modesOf[type]
  if (requested === undefined) return usual
  const mode = [usual, ...others].find((one) => one === requested)
  if (mode) return mode
  throw new OAuthError(
    'invalid_request',
    `response_mode must be ${[usual, ...others].join(' or ')} for this response type.`,
  )
}
