import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ClientInput, createAuthorizationServer, type User } from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { createMcpApp } from '../../examples/mcp/app.ts'
import { mcpAddress, mcpOptions } from '../../examples/mcp/options.ts'
import { openNotes } from '../../examples/notes/notes.ts'
import { testScopes } from '../support/scopes.ts'

/** The redirect URI of every client. No server listens there: a program reads the redirect of the simulated browser. */
const redirectUri = 'http://127.0.0.1:8911/callback'

const email = 'ada@example.org'
const password = 'correct horse battery staple'
const kid = 'clients-1'
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange'
// Without the user's consent (`client_credentials`), a client receives only scopes that its registration lists.
const allowedScopes = ['notes:read', 'notes:write', 'openid', 'profile', 'email', 'offline_access']
const grantTypes = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
  deviceGrant,
  exchangeGrant,
]

/**
 * The notes application with its registered clients. The programs receive the values of the application and the clients
 * as environment variables.
 */
export interface ClientsServer {
  readonly issuer: string
  readonly user: User
  readonly password: string
  readonly variables: Readonly<Record<string, string>>
  close(): Promise<void>
}

/** Starts the notes application with OpenID Connect and an MCP server, and registers one client of each kind. */
export const startClientsServer = async (
  accessTokenFormat: 'opaque' | 'jwt',
): Promise<ClientsServer> => {
  const http = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const { resources, ...options } = mcpOptions(issuer)
  // The clients of resource servers must be named before they exist, so their list is filled later.
  const introspectionClients: string[] = []
  const server = await createAuthorizationServer({
    issuer,
    secretKeys: ['the secret key of the runs with client libraries'],
    store: sqlite(':memory:'),
    scopes: testScopes,
    log: ({ event, level, ...more }) => {
      if (level === 'error' || process.env.CLIENTS_LOG) console.error(event, more)
    },
    ...options,
    resources: resources.map((resource) => ({ ...resource, introspectionClients })),
    openidConnect: true,
    registerClient: () => ({ scope: allowedScopes.join(' ') }),
    claims: (_user, scopes) => (scopes.includes('profile') ? { name: 'Ada Lovelace' } : {}),
    deviceAuthorization: true,
    tokenExchange: true,
    accessTokenFormat,
    ...(accessTokenFormat === 'jwt' ? { signingAlgorithm: 'RS256' } : {}),
  })
  const notes = openNotes(undefined)
  http.on('request', createMcpApp(server, notes))
  const user = await server.users.create({ email, password })

  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = { kid, alg: 'RS256', use: 'sig' }
  const jwks = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), ...jwk }] })
  const kinds: Record<string, Partial<ClientInput>> = {
    WEB: {},
    POST: { tokenEndpointAuthMethod: 'client_secret_post' },
    KEY: { tokenEndpointAuthMethod: 'private_key_jwt', jwks },
    PUBLIC: { isConfidential: false, grantTypes: grantTypes.slice(0, 2).concat(deviceGrant) },
    API: {},
    // The Go SDK of the Model Context Protocol does not send `resource` with `client_credentials`.
    MACHINE: { defaultResource: mcpAddress(issuer) },
  }
  const variables: Record<string, string> = {
    ISSUER: issuer,
    MCP_URL: mcpAddress(issuer),
    REDIRECT_URI: redirectUri,
    KEY_KID: kid,
    KEY_PEM: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    KEY_JWK: JSON.stringify({ ...privateKey.export({ format: 'jwk' }), ...jwk }),
    USER_EMAIL: email,
  }
  for (const [name, input] of Object.entries(kinds)) {
    const { client, clientSecret } = await server.clients.create({
      name,
      userId: user.id,
      // pac4j appends the name of its client to the redirect URI.
      redirectUris: [redirectUri, `${redirectUri}?client_name=OidcClient`],
      grantTypes,
      allowedScopes,
      openid: { post_logout_redirect_uris: [redirectUri] },
      ...input,
    })
    variables[`${name}_ID`] = client.clientId
    variables[`${name}_SECRET`] = clientSecret
    if (name === 'API') introspectionClients.push(client.clientId)
  }
  return {
    issuer,
    user,
    password,
    variables,
    async close() {
      http.close()
      http.closeAllConnections()
      notes.close()
      await server.close()
    },
  }
}
