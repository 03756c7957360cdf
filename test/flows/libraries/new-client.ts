import type { ClientInput } from 'svc-oauth2server'
import type { TestServer } from '../../support/server.ts'
import { type ClientKey, jwksOf, newClientKey } from '../../support/signing-client.ts'
import type { Library, LibraryClient, Method } from './library.ts'

export interface NewClient {
  readonly method?: Method
  readonly alg?: string
  readonly dpop?: boolean
  readonly input?: Partial<ClientInput>
}

// The creation of an RSA key takes longer than a whole flow, so all clients with the same algorithm share a key.
const keys = new Map<string, Promise<ClientKey>>()
const keyOf = (alg: string): Promise<ClientKey> => {
  const key = keys.get(alg) ?? newClientKey(alg)
  keys.set(alg, key)
  return key
}

/** Registers a client, and returns it as a client of the library. */
export const newClient = async (
  app: TestServer,
  library: Library,
  { method = 'client_secret_basic', alg = 'ES256', dpop = false, input = {} }: NewClient = {},
): Promise<LibraryClient> => {
  const key = method === 'private_key_jwt' ? await keyOf(alg) : undefined
  const { clientId, clientSecret: secret } = await app.client({
    isConfidential: method !== 'none',
    tokenEndpointAuthMethod: method,
    defaultScopes: ['notes:read'],
    ...(key && { jwks: jwksOf(key) }),
    ...input,
  })
  const credentials = { clientId, method, secret, ...(key && { key }) }
  return library.discover(app.issuer, credentials, { dpop })
}
