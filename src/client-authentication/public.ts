import type { ClientAuthenticationMethod } from '../extension.ts'

/** A public client has no credential: it only says who it is. RFC 6749 §2.1, §3.2.1. */
export const publicClient: ClientAuthenticationMethod = {
  name: 'none',
  parameters: ['client_id'],
  presented(authorization, params) {
    if (authorization !== null || params.optional('client_secret') !== undefined) return undefined
    const clientId = params.optional('client_id')
    return clientId === undefined ? undefined : { clientId }
  },
}
