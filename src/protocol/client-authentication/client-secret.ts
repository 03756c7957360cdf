import { constantTimeEqual, digestOf } from '../../crypto/digest.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import { plainParameter } from '../../model/parameters.ts'
import type { ClientAuthenticationMethod } from '../plug-ins.ts'

const decoded = (text: string): string => {
  if (!/[%+]/.test(text)) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    // Some clients send the secret without form encoding. Accept the text, because our secrets need no encoding.
    return text
  }
}

const isSecretOf: ClientAuthenticationMethod['proves'] = ({ proof = '' }, client, { clock }) => {
  if (client?.isConfidential) return client.checkSecret(proof, clock())
  // Compare for unknown clients too, so that the response time does not reveal which clients exist.
  constantTimeEqual(digestOf('client_secret', proof), digestOf('client_secret', 'nobody'))
  return false
}

/**
 * Returns the client ID and the secret in a Basic header, which are form-encoded before base64. RFC 6749 §2.3.1.
 * @throws OAuthError `invalid_client` for another scheme or a malformed header
 */
export const basicCredentials = (
  authorization: string | null,
): { readonly clientId: string; readonly proof: string } | undefined => {
  if (authorization === null) return undefined
  const refused = () => new OAuthError('invalid_client', 'The Authorization header is not valid.')
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization) ?? []
  if (encoded === undefined) throw refused()
  const bytes = Buffer.from(encoded, 'base64')
  // Accept only the canonical base64 encoding, so that each credential has exactly one form (RFC 4648 §3.5).
  if (bytes.toString('base64') !== encoded) throw refused()
  const text = bytes.toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 0) throw refused()
  return { clientId: decoded(text.slice(0, colon)), proof: decoded(text.slice(colon + 1)) }
}

/** Authentication by client ID and secret in a Basic header. RFC 6749 §2.3.1. */
export const clientSecretBasic: ClientAuthenticationMethod = {
  name: 'client_secret_basic',
  parameters: [],
  isRepeatable: true,
  presented(authorization) {
    const basic = basicCredentials(authorization)
    return basic?.proof === '' ? undefined : basic
  },
  proves: isSecretOf,
}

/** Authentication by client ID and secret in the body. RFC 6749 §2.3.1. */
export const clientSecretPost: ClientAuthenticationMethod = {
  name: 'client_secret_post',
  parameters: { client_id: plainParameter, client_secret: plainParameter },
  isRepeatable: true,
  presented(_authorization, params) {
    const clientSecret = params.optional('client_secret')
    return clientSecret === undefined
      ? undefined
      : { clientId: params.required('client_id'), proof: clientSecret }
  },
  proves: isSecretOf,
}

/**
 * Identifies a public client by its client ID, without a credential (RFC 6749 §2.1, §3.2.1). Many libraries send a client
 * without a secret in a Basic header with an empty password.
 */
export const publicClient: ClientAuthenticationMethod = {
  name: 'none',
  parameters: { client_id: plainParameter },
  presented(authorization, params) {
    if (authorization !== null) {
      if (!hasEmptyPassword(authorization)) return undefined
      const basic = basicCredentials(authorization)
      return basic?.proof === '' ? { clientId: basic.clientId } : undefined
    }
    const hasProof = ['client_secret', 'client_assertion'].some(
      (name) => params.optional(name) !== undefined,
    )
    if (hasProof) return undefined
    const clientId = params.optional('client_id')
    return clientId === undefined ? undefined : { clientId }
  },
  proves: (_credentials, client) => client !== undefined && !client.isConfidential,
}

// Base64 encodes three bytes in four characters, so these characters end with the last byte of the credentials. Every
// token request with a secret comes here, so do not decode the whole header.
const hasEmptyPassword = (authorization: string): boolean =>
  Buffer.from(authorization.slice(-4), 'base64').at(-1) === colon

const colon = ':'.charCodeAt(0)
