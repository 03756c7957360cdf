import type { AuthorizationServerOptions } from 'svc-oauth2server'
import { chain, requireOauthScopes, rest } from 'svc-oauth2server/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AiClient, aiClients } from '../../src/cli/doctor/ai-clients.ts'
import { register } from '../support/registration.ts'
import { type RemoteSite, remoteSite } from '../support/remote-site.ts'
import { type Served, serve } from '../support/rest-app.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { assertionOf, jwksOf, jwtBearer, newClientKey } from '../support/signing-client.ts'
import {
  authorizeUrl,
  newPkce,
  type TokenResponse,
  tokenRequest,
  UserAgent,
} from '../support/user-agent.ts'

// Each test uses the published metadata of an AI client, which logs in with PKCE and `resource` (MCP).

let site: RemoteSite
beforeAll(async () => {
  site = await remoteSite()
})
afterAll(() => site.close())

const resource = 'https://notes.example/mcp'

interface Given {
  readonly app: TestServer
  readonly mcp: Served
}

const start = async (options: Partial<AuthorizationServerOptions>): Promise<Given> => {
  const app = await startServer({
    resources: [{ resource, name: 'Notes', scopes: ['notes:read', 'notes:write'] }],
    dangerouslyAllowPrivateAddresses: true,
    outbound: site.outbound,
    ...options,
  })
  const mcp = await serve(
    chain(
      rest(app.server, { resource, requireAudience: true }),
      requireOauthScopes('notes:read'),
      (_request, response) => response.end('tools'),
    ),
  )
  return { app, mcp }
}

type Credentials = (path: string) => Promise<Record<string, string>>

/** Logs in, calls the MCP server, refreshes, and calls it again. */
const logIn = async (
  { app, mcp }: Given,
  { redirectUri }: AiClient,
  clientId: string,
  credentials: Credentials,
): Promise<void> => {
  const pkce = newPkce()
  const answer = await new UserAgent().authorize(
    app,
    authorizeUrl(app.issuer, {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: 'notes:read',
      state: 'xyz',
      resource,
      code_challenge: pkce.challenge,
      code_challenge_method: 'S256',
    }),
  )
  expect(`${answer.origin === 'null' ? '' : answer.origin}${answer.pathname}`).toBe(redirectUri)
  const send = async (given: Record<string, string>): Promise<TokenResponse> => {
    const own = await credentials(`${app.issuer}/oauth/token`)
    const response = await tokenRequest(app.issuer, { ...own, resource, ...given }, {})
    return response as unknown as TokenResponse
  }
  const opens = async (token: string): Promise<number> =>
    (await fetch(mcp.issuer, { headers: { authorization: `Bearer ${token}` } })).status
  const issued = await send({
    grant_type: 'authorization_code',
    code: answer.searchParams.get('code') ?? '',
    redirect_uri: redirectUri,
    code_verifier: pkce.verifier,
  })
  expect(issued).toMatchObject({ status: 200, body: { scope: 'notes:read' } })
  expect(await opens(issued.body.access_token)).toBe(200)
  const refreshed = await send({
    grant_type: 'refresh_token',
    refresh_token: issued.body.refresh_token,
  })
  expect(refreshed.status).toBe(200)
  expect(await opens(refreshed.body.access_token)).toBe(200)
}

describe('AI clients that register', () => {
  let given: Given
  beforeAll(async () => {
    given = await start({ dynamicRegistration: 'open' })
  })
  afterAll(async () => {
    await given.mcp[Symbol.asyncDispose]()
    await given.app.close()
  })

  test.each(aiClients.map((client) => [client.name, client] as const))(
    '%s registers, logs in and refreshes without a special setting [T2620]',
    async (_, client) => {
      const key = await newClientKey()
      site.serve('/jwks.json', jwksOf(key))
      const metadata = {
        ...client.metadata,
        ...('jwks_uri' in client.metadata && { jwks_uri: site.url('/jwks.json') }),
      }
      const { status, body } = await register(given.app, metadata)
      expect(status, JSON.stringify(body)).toBe(201)
      const { client_id, client_secret } = body
      const own: Record<string, Credentials> = {
        none: async () => ({ client_id }),
        client_secret_post: async () => ({ client_id, client_secret }),
        private_key_jwt: async (audience) => ({
          client_assertion_type: jwtBearer,
          client_assertion: await assertionOf(given.app, client_id, key, { aud: audience }),
        }),
      }
      const credentials = own[String(body.token_endpoint_auth_method)]
      if (!credentials) throw new Error('The method is unknown.')
      await logIn(given, client, client_id, credentials)
    },
  )
})

describe.each([
  ['with private_key_jwt', {}],
  [
    'without private_key_jwt',
    { clientAuthentication: ['client_secret_basic', 'client_secret_post', 'none'] as const },
  ],
])('AI clients with a metadata document, at a server %s', (_, options) => {
  let given: Given
  beforeAll(async () => {
    given = await start({ clientIdMetadataDocuments: true, ...options })
  })
  afterAll(async () => {
    await given.mcp[Symbol.asyncDispose]()
    await given.app.close()
  })

  test.each(
    aiClients
      .filter(({ document }) => document !== undefined)
      .map((client) => [client.name, client] as const),
  )('%s logs in and refreshes without a special setting [T2621]', async (_name, client) => {
    const key = await newClientKey()
    site.serve('/jwks.json', jwksOf(key))
    const path = new URL(client.document ?? '').pathname
    const clientId = site.url(path)
    site.serve(path, {
      client_id: clientId,
      ...client.metadata,
      ...('jwks_uri' in client.metadata && { jwks_uri: site.url('/jwks.json') }),
    })
    const signs =
      client.metadata.token_endpoint_auth_method === 'private_key_jwt' &&
      !('clientAuthentication' in options)
    await logIn(given, client, clientId, async (audience) =>
      signs
        ? {
            client_id: clientId,
            client_assertion_type: jwtBearer,
            client_assertion: await assertionOf(given.app, clientId, key, { aud: audience }),
          }
        : { client_id: clientId },
    )
  })
})

describe('the registration of a client for many servers', () => {
  let app: TestServer
  beforeAll(async () => {
    app = await startServer({ dynamicRegistration: 'open' })
  })
  afterAll(() => app.close())

  const kept = 'https://client.example/cb'

  test('removes private-use redirect URIs, and returns the remaining URIs [T2622]', async () => {
    const given = ['cursor://anysphere.cursor-mcp/oauth/callback', 'com.example.app:/cb', kept]
    const { status, body } = await register(app, {
      redirect_uris: given,
      token_endpoint_auth_method: 'none',
    })
    expect([status, body.redirect_uris]).toEqual([201, [kept]])
  })

  test.each([
    [['cursor://anysphere.cursor-mcp/oauth/callback']],
    [['javascript:alert(1)', kept]],
    [['data:text/html,x', kept]],
    [['file:///etc/passwd', kept]],
    [['http://client.example/cb', kept]],
    [['cursor://x#y', kept]],
    [['cursor://user@x/y', kept]],
    [['cursor://x/y?code=1', kept]],
  ])('is refused with the redirect URIs %j [T2623]', async (redirectUris) => {
    const { status, body } = await register(app, {
      redirect_uris: redirectUris,
      token_endpoint_auth_method: 'none',
    })
    expect([status, body.error]).toEqual([400, 'invalid_redirect_uri'])
  })
})
