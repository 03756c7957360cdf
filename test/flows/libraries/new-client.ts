import type { ClientInput } from 'svc-oauth2server'
import type { TestServer } from '../../support/server.ts'
import { jwksOf, newClientKey } from '../../support/signing-client.ts'
import type { Library, LibraryClient, Method } from './library.ts'

export interface NewClient {
  readonly method?: Method
  readonly alg?: string
  readonly dpop?: boolean
  readonly input?: Partial<ClientInput>
}

/** A client that the application registered, in the hands of a library. */
export const newClient = async (
  app: TestServer,
  library: Library,
  { method = 'client_secret_basic', alg, dpop = false, input = {} }: NewClient = {},
): Promise<LibraryClient> => {
  const key = method === 'private_key_jwt' ? await newClientKey(alg) : undefined
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
