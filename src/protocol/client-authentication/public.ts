import type { ClientAuthenticationMethod } from '../plug-ins.ts'

/** A public client has no credential and only identifies itself. RFC 6749 §2.1, §3.2.1. */
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
