import { createServer as createHttp, type RequestListener, type Server } from 'node:http'
import { createServer as createHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import {
  DpopSession,
  InsufficientScopeError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  createAuthorizationServer,
} from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMcpApp } from '../../examples/mcp/app.ts'
import { mcpAddress, mcpOptions } from '../../examples/mcp/options.ts'
import { openNotes } from '../../examples/notes/notes.ts'
import { selfSigned } from '../full/pages/self-signed.ts'
import {
  Assistant,
  callback,
  clientMetadata,
  type McpPlace,
  newClient,
  type Protocol,
} from '../support/mcp-assistant.ts'
import { freePort, notesEnvironment, root, runNode, temporaryFolder } from '../support/processes.ts'
import { secretKey, testScopes } from '../support/server.ts'

const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}
const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })

interface McpApp extends McpPlace, AsyncDisposable {
  readonly server: AuthorizationServer
  /** Method and path of each request, in order. */
  readonly requests: string[]
  advance(seconds: number): void
}

const startMcpApp = async (
  basePath = '',
  options: Partial<AuthorizationServerOptions> = {},
): Promise<McpApp> => {
  const http = createHttp()
  const issuer = `http://localhost:${await listening(http)}${basePath}`
  const resource = mcpAddress(issuer)
  let ahead = 0
  const server = await createAuthorizationServer({
    issuer,
    secretKeys: [secretKey],
    store: sqlite(':memory:'),
    scopes: testScopes,
    // DPoP proofs are created with the clock of the machine.
    clock: () => Date.now() + ahead,
    log: () => undefined,
    sweepInterval: 0,
    ...mcpOptions(issuer),
    ...options,
  })
  const password = 'correct horse battery staple'
  const user = await server.users.create({ email: 'user-a@example.org', password })
  const notes = openNotes(undefined)
  const app = createMcpApp(server, notes)
  const requests: string[] = []
  http.on('request', ((request, response) => {
    requests.push(`${request.method} ${request.url?.replace(/\?.*/, '')}`)
    app(request, response)
  }) satisfies RequestListener)
  return {
    issuer,
    resource,
    server,
    user,
    password,
    requests,
    advance(seconds) {
      ahead += seconds * 1000
    },
    async [Symbol.asyncDispose]() {
      await closed(http)
      await server.close()
      notes.close()
    },
  }
}

/** Issues a token with the scope `notes:read`, restricted to these resources. */
const tokenFor = async (
  { server, user: subject }: McpApp,
  resources: readonly string[],
): Promise<string> => {
  const { client } = await server.clients.create({
    name: 'Other',
    userId: subject.id,
    redirectUris: [callback],
    isConfidential: false,
  })
  const issued = await server.tokens.issue({
    type: 'user',
    client,
    subject,
    scopes: ['notes:read'],
    refreshable: false,
    resources,
  })
  return issued.accessToken
}

const scopesIn = (url: URL | undefined): readonly string[] =>
  (url?.searchParams.get('scope') ?? '').split(' ').toSorted()

describe.each<[string, string, Protocol]>([
  ['', 'up to 2025-11-25', 'legacy'],
  ['/app', '2026-07-28', { pin: '2026-07-28' }],
])('an MCP server for an issuer with the path "%s", protocol %s', (basePath, _, protocol) => {
  let app: McpApp
  let documents: Server
  let clientMetadataUrl: string
  beforeAll(async () => {
    const { cert, key } = selfSigned('assistant.example')
    documents = createHttps({ cert, key }, (_request, response) => {
      const document = { ...clientMetadata, client_id: clientMetadataUrl }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(document))
    })
    clientMetadataUrl = `https://assistant.example:${await listening(documents)}/client.json`
    app = await startMcpApp(basePath, {
      dangerouslyAllowPrivateAddresses: true,
      outbound: {
        resolve: async () => [{ address: '127.0.0.1', family: 4 }],
        certificateAuthorities: [cert],
      },
    })
  })
  afterAll(async () => {
    await app[Symbol.asyncDispose]()
    await closed(documents)
  })

  const usesTools = async (assistant: Assistant): Promise<void> => {
    await assistant.connect()
    expect(await assistant.tools()).toEqual(['list_notes', 'add_note'])
    expect(await assistant.call('list_notes')).toBeInstanceOf(Array)
    const [url] = assistant.memory.asked
    expect(url?.searchParams.get('resource')).toBe(app.resource)
    await assistant.close()
  }

  test('an unregistered assistant registers itself, logs its user in, and calls a tool [T486]', async () => {
    const assistant = new Assistant(app, protocol)
    app.requests.length = 0
    await usesTools(assistant)
    const pathname = new URL(app.issuer).pathname.replace(/\/$/, '')
    expect(app.requests.filter((request) => !/login/.test(request)).slice(0, 4)).toEqual([
      `POST ${pathname}/mcp`,
      `GET /.well-known/oauth-protected-resource${pathname}/mcp`,
      `GET /.well-known/oauth-authorization-server${pathname}`,
      `POST ${pathname}/oauth/register`,
    ])
  })

  test('an assistant with a client ID metadata document calls a tool [T485]', async () => {
    const assistant = new Assistant(app, protocol)
    assistant.memory.clientMetadataUrl = clientMetadataUrl
    app.requests.length = 0
    await usesTools(assistant)
    expect(assistant.memory.client?.client_id).toBe(clientMetadataUrl)
    expect(app.requests.some((request) => request.endsWith('/oauth/register'))).toBe(false)
  })

  test.each([
    ['a secret', { isConfidential: true }],
    ['none', { isConfidential: false }],
  ])('a pre-registered assistant with %s calls a tool [T487]', async (_, kind) => {
    const { client, clientSecret } = await app.server.clients.create({
      name: 'Assistant',
      userId: app.user.id,
      redirectUris: [callback],
      ...kind,
    })
    const assistant = new Assistant(app, protocol)
    assistant.memory.client = {
      client_id: client.clientId,
      issuer: app.issuer,
      ...(kind.isConfidential ? { client_secret: clientSecret } : {}),
    }
    app.requests.length = 0
    await usesTools(assistant)
    expect(app.requests.some((request) => request.endsWith('/oauth/register'))).toBe(false)
  })

  test('step-up: a tool that requires more scopes works after the user consents again [T488]', async () => {
    const assistant = new Assistant(app, protocol)
    await assistant.connect()
    // The challenge for a request without a token contains only the scopes that the endpoint requires.
    expect(scopesIn(assistant.memory.asked[0])).toEqual(['notes:read'])
    expect(assistant.memory.asked).toHaveLength(1)
    const added = await assistant.call('add_note', { text: 'Buy milk' })
    expect(added).toMatchObject({ text: 'Buy milk' })
    expect(assistant.memory.asked).toHaveLength(2)
    expect(scopesIn(assistant.memory.asked[1])).toEqual(['notes:read', 'notes:write'])
    expect(await assistant.call('list_notes')).toContainEqual(added)
    expect(await assistant.call('add_note', { text: 'Buy bread' })).toBeDefined()
    expect(assistant.memory.asked).toHaveLength(2)
    await assistant.close()
  })

  test('refreshes an expired access token without the user [T490]', async () => {
    const assistant = new Assistant(app, protocol)
    await assistant.connect()
    const before = assistant.memory.kept
    app.advance(3_601)
    expect(await assistant.call('list_notes')).toBeInstanceOf(Array)
    expect(assistant.memory.asked).toHaveLength(1)
    expect(assistant.memory.kept?.access_token).not.toBe(before?.access_token)
    expect(assistant.memory.kept?.refresh_token).not.toBe(before?.refresh_token)
    await assistant.close()
  })

  test('rejects a token for this resource at other resources, and a token for another resource at this resource', async () => {
    const assistant = new Assistant(app, protocol)
    await assistant.connect()
    const token = assistant.memory.kept?.access_token
    const asking = async (url: string, accessToken?: string) => {
      const answer = await fetch(url, { headers: { authorization: `Bearer ${accessToken}` } })
      await answer.body?.cancel()
      return answer
    }
    const atApi = await asking(`${app.issuer}/api/notes`, token)
    expect(atApi.status).toBe(401)
    expect(atApi.headers.get('www-authenticate')).toContain('error="invalid_token"')
    // The guard accepted the token: the response is from MCP, which does not support GET.
    expect((await asking(app.resource, token)).status).toBe(405)
    await assistant.close()

    const personal = await app.server.tokens.createPersonal('Test', app.user.id, {
      scopes: ['notes:read'],
    })
    const { origin, pathname } = new URL(app.resource)
    const metadata = `${origin}/.well-known/oauth-protected-resource${pathname}`
    const ofWhole = [await tokenFor(app, [app.issuer]), await tokenFor(app, [])]
    for (const other of [...ofWhole, personal.accessToken]) {
      expect((await asking(`${app.issuer}/api/notes`, other)).status).toBe(200)
      const refused = await asking(app.resource, other)
      expect(refused.status).toBe(401)
      const challenge = refused.headers.get('www-authenticate')
      expect(challenge).toContain('error="invalid_token"')
      expect(challenge).toContain(`scope="notes:read", resource_metadata="${metadata}"`)
    }

    // The challenge names the resource for which the assistant must request a token.
    const led = new Assistant(app, protocol)
    led.memory.kept = {
      access_token: ofWhole[1] ?? '',
      token_type: 'Bearer',
      issuer: app.issuer,
    }
    await led.connect()
    expect(led.memory.asked[0]?.searchParams.get('resource')).toBe(app.resource)
    await led.close()
  })

  test('rejects a request from a page of another site, even with a valid token', async () => {
    const accessToken = await tokenFor(app, [app.resource])
    const statusOf = async (origin: string) => {
      const headers = { authorization: `Bearer ${accessToken}`, origin }
      const answer = await fetch(app.resource, { method: 'DELETE', headers })
      await answer.body?.cancel()
      return answer.status
    }
    expect(await statusOf('https://evil.example')).toBe(403)
    expect(await statusOf(new URL(app.issuer).origin)).toBe(405)
  })
})

test('accepts an assistant whose tokens are bound to its key (DPoP), with the nonces of this server', async () => {
  await using app = await startMcpApp('', { dpop: 'required', requireDpopNonce: true })
  const assistant = new Assistant(app)
  const session = await DpopSession.create()
  assistant.memory.dpop = () => session
  await assistant.connect()
  expect(assistant.memory.kept?.token_type).toBe('DPoP')
  expect(await assistant.call('add_note', { text: 'Buy milk' })).toMatchObject({ text: 'Buy milk' })
  const headers = { authorization: `Bearer ${assistant.memory.kept?.access_token}` }
  expect((await fetch(app.resource, { headers })).status).toBe(401)
  await assistant.close()
})

test('a tool that requires more scopes returns 403, with all scopes and the metadata URL in the challenge [T491]', async () => {
  await using app = await startMcpApp()
  const { resource } = app
  const accessToken = await tokenFor(app, [resource])
  const requestInit = { headers: { authorization: `Bearer ${accessToken}` } }
  const transport = new StreamableHTTPClientTransport(new URL(resource), { requestInit })
  const client = newClient('legacy')
  await client.connect(transport)
  const refused = client.callTool({ name: 'add_note', arguments: { text: 'x' } })
  const error: unknown = await refused.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(InsufficientScopeError)
  const { origin } = new URL(resource)
  expect(error).toMatchObject({ requiredScope: 'notes:read notes:write' })
  expect(String((error as InsufficientScopeError).resourceMetadataUrl)).toBe(
    `${origin}/.well-known/oauth-protected-resource/mcp`,
  )
  await client.close()
})

test('node examples/mcp/main.ts starts the example and prints its URL [T489]', async () => {
  await using data = await temporaryFolder()
  const port = await freePort()
  const env = notesEnvironment(port, data.path)
  await using program = runNode([join(root, 'examples/mcp/main.ts')], { env })
  await program.says(/^The MCP server: (.+)$/m)
  expect(program.stdout).toContain(`\nThe MCP server: http://localhost:${port}/mcp\n`)
  const answer = await fetch(`http://localhost:${port}/mcp`, { method: 'POST' })
  expect(answer.status).toBe(401)
  expect(answer.headers.get('www-authenticate')).toContain('scope="notes:read"')
  const api = await fetch(`http://localhost:${port}/api/notes`)
  expect(api.headers.get('www-authenticate')).toContain(
    `resource_metadata="http://localhost:${port}/.well-known/oauth-protected-resource"`,
  )
  expect(await program.stop()).toEqual({ code: 0, signal: null })
})
