import type { ClientAuthenticationMethod } from '../plug-ins.ts'
import { basicCredentials } from './client-secret.ts'

/**
 * Identifies a public client by its client ID, without a credential (RFC 6749 §2.1, §3.2.1). Many libraries send a client
 * without a secret in a Basic header with an empty password.
 */
export const publicClient: ClientAuthenticationMethod = {
  name: 'none',
  parameters: ['client_id'],
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
