import type { ClientAuthenticationMethod } from '../plug-ins.ts'

/** Identifies a public client by its client ID, without a credential. RFC 6749 §2.1, §3.2.1. */
export const publicClient: ClientAuthenticationMethod = {
  name: 'none',
  parameters: ['client_id'],
  presented(authorization, params) {
    const hasProof = ['client_secret', 'client_assertion'].some(
      (name) => params.optional(name) !== undefined,
    )
    if (authorization !== null || hasProof) return undefined
    const clientId = params.optional('client_id')
    return clientId === undefined ? undefined : { clientId }
  },
  proves: (_credentials, client) => client !== undefined && !client.isConfidential,
}
