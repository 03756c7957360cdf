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
    const basic = basicCredentials(authorization)
    if (basic) return basic.proof === '' ? { clientId: basic.clientId } : undefined
    const hasProof = ['client_secret', 'client_assertion'].some(
      (name) => params.optional(name) !== undefined,
    )
    if (hasProof) return undefined
    const clientId = params.optional('client_id')
    return clientId === undefined ? undefined : { clientId }
  },
  proves: (_credentials, client) => client !== undefined && !client.isConfidential,
}
