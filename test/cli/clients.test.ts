import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AuthorizationServer, ClientInput, UserId } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { count } from '../support/database.ts'
import { keepDescribed } from '../support/internals.ts'
import { jwksOf, newClientKey } from '../support/signing-client.ts'
import { declareScopes, refused, silent, type Workplace, workplace } from './workplace.ts'

const email = 'me@example.org'
const redirectUri = 'https://client.example/cb'

interface ClientPlace extends Workplace {
  readonly server: AuthorizationServer
  readonly userId: UserId
  client(input?: Partial<ClientInput>): ReturnType<AuthorizationServer['clients']['create']>
}

/** Creates a workplace with a user. */
const withUser = async (): Promise<ClientPlace> => {
  const place = await workplace()
  await declareScopes(place)
  const server = await place.open()
  const { id: userId } = await server.users.create({ email, password: null })
  return {
    ...place,
    server,
    userId,
    client: (input) => server.clients.create({ name: 'N', userId, ...input }),
    async [Symbol.asyncDispose]() {
      await server.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

const minimal = ['--name', 'N', '--user', email]

test('clients set-default-resource sets and removes the default resource of a client [T1427]', async () => {
  await using place = await withUser()
  const { client } = await place.client()
  const mcp = 'https://mcp.example.org/mcp'
  const env = { OAUTH2SERVER_RESOURCES: mcp }
  const set = (...options: readonly string[]) =>
    place.runWith(
      { env },
      'clients',
      'set-default-resource',
      '--client-id',
      client.clientId,
      ...options,
    )
  const stored = async () => (await place.server.clients.find(client.clientId))?.defaultResource
  expect(await set('--resource', mcp)).toEqual(silent)
  expect(await stored()).toBe(mcp)
  expect((await set('--resource', 'https://other.example')).code).toBe(1)
  expect(await stored()).toBe(mcp)
  expect(await set()).toEqual(silent)
  expect(await stored()).toBeNull()
})

test('clients pin and unpin change a client with a metadata document, and pin rejects other clients [T2916]', async () => {
  await using place = await withUser()
  const { client } = await place.client()
  const id = 'https://client.example/oauth/client.json'
  const registration = {
    origin: 'metadata_document',
    registrationToken: null,
    metadata: '{}',
  } as const
  const { clients } = place.server
  await keepDescribed(place.server, id, { name: 'N', isConfidential: false }, registration)
  const run = (act: string, clientId: string) => place.run('clients', act, '--client-id', clientId)
  const isPinned = async () => (await clients.find(id))?.isPinned
  expect(await run('pin', id)).toEqual(silent)
  expect(await isPinned()).toBe(true)
  expect(await run('unpin', id)).toEqual(silent)
  expect(await isPinned()).toBe(false)
  for (const other of [client.clientId, 'https://client.example/unknown.json'])
    expect((await run('pin', other)).code).toBe(1)
})

describe('clients create', () => {
  test('registers the URLs for the logout of OpenID Connect, and refuses a URL without https [T2408]', async () => {
    await using place = await withUser()
    const create = (uri: string) =>
      place.run(
        ...['clients', 'create', ...minimal],
        ...['--post-logout-redirect-uri', uri, '--post-logout-redirect-uri', 'http://localhost:1/'],
        ...['--backchannel-logout-uri', 'https://photos.example/ended'],
      )
    const { client_id } = JSON.parse((await create('https://photos.example/')).stdout)
    const client = await place.server.clients.find(client_id)
    expect(JSON.parse(client?.metadata ?? '')).toEqual({
      post_logout_redirect_uris: ['https://photos.example/', 'http://localhost:1/'],
      backchannel_logout_uri: 'https://photos.example/ended',
    })
    const { code, stderr } = await create('http://photos.example/')
    expect([code, stderr]).toEqual([1, expect.stringContaining('post_logout_redirect_uris')])
  })

  test('reads public keys from a file, and neither creates nor prints a secret', async () => {
    await using place = await withUser()
    const key = await newClientKey()
    const file = join(place.folder, 'jwks.json')
    await writeFile(file, jwksOf(key))
    const method = ['--auth-method', 'private_key_jwt']
    const { stdout } = await place.run('clients', 'create', ...minimal, ...method, '--jwks', file)
    const printed = JSON.parse(stdout)
    expect(Object.keys(printed)).toEqual(['client_id'])
    const client = await place.server.clients.find(printed.client_id)
    expect(JSON.parse(client?.jwks ?? '')).toEqual({ keys: [key.jwk] })
    const reset = await place.run('clients', 'reset-secret', '--client-id', printed.client_id)
    expect(reset).toEqual(
      refused('client_secret: This client authenticates with keys and has no secret.'),
    )
  })

  test('accepts the URL of public keys, and reports a key file that does not exist', async () => {
    await using place = await withUser()
    const jwksUri = 'https://client.example/jwks.json'
    const { stdout } = await place.run('clients', 'create', ...minimal, '--jwks-uri', jwksUri)
    const found = await place.server.clients.find(JSON.parse(stdout).client_id)
    expect(found).toMatchObject({ jwks: null, jwksUri })
    expect(await place.run('clients', 'create', ...minimal, '--jwks', 'none.json')).toEqual(
      refused('The file "none.json" cannot be read: ENOENT.'),
    )
  })

  test('prints the ID and the secret of a confidential client [T633]', async () => {
    await using place = await withUser()
    const { stdout, ...rest } = await place.run('clients', 'create', ...minimal)
    expect(rest).toEqual({ code: 0, stderr: '' })
    const printed = JSON.parse(stdout)
    expect(stdout).toBe(`${JSON.stringify(printed)}\n`)
    expect(Object.keys(printed)).toEqual(['client_id', 'client_secret'])
    const client = await place.server.clients.find(printed.client_id)
    expect(client?.checkSecret(printed.client_secret, Date.now())).toBe(true)
    expect(client).toMatchObject({
      userId: place.userId,
      isConfidential: true,
      isInternal: false,
      redirectUris: [],
      defaultScopes: [],
      allowedScopes: null,
      grantTypes: null,
      responseTypes: null,
      tokenEndpointAuthMethod: null,
    })
  })

  test('accepts every option, and does not print a secret for a public client', async () => {
    await using place = await withUser()
    const { stdout, ...rest } = await place.run(
      ...['clients', 'create', '--name', 'Calendar', '--user', 'me@example.org'],
      ...['--redirect-uri', redirectUri, '--redirect-uri', 'http://localhost/cb'],
      ...['--scope', 'notes:read', '--public', '--internal'],
      ...['--website', 'https://client.example', '--description', 'Shows notes'],
      ...['--allowed-scope', 'notes:read', '--allowed-scope', 'user:email'],
      ...['--grant-type', 'authorization_code', '--grant-type', 'refresh_token'],
      ...['--response-type', 'code', '--response-type', 'code id_token', '--auth-method', 'none'],
    )
    expect(rest).toEqual({ code: 0, stderr: '' })
    const printed = JSON.parse(stdout)
    expect(Object.keys(printed)).toEqual(['client_id'])
    expect(await place.server.clients.find(printed.client_id)).toMatchObject({
      name: 'Calendar',
      description: 'Shows notes',
      website: 'https://client.example',
      isConfidential: false,
      isInternal: true,
      redirectUris: [redirectUri, 'http://localhost/cb'],
      defaultScopes: ['notes:read'],
      allowedScopes: ['notes:read', 'user:email'],
      grantTypes: ['authorization_code', 'refresh_token'],
      responseTypes: ['code', 'code id_token'],
      tokenEndpointAuthMethod: 'none',
    })
  })

  test.each([
    [
      'a redirect URI with http',
      ['--redirect-uri', redirectUri, '--redirect-uri', 'http://x.example/'],
      /redirect_uris: Line 2: /,
    ],
    ['an empty redirect URI', ['--redirect-uri', ''], 'redirect_uris: A redirect URI is empty.'],
    [
      'an unknown client authentication method',
      ['--auth-method', 'mtls'],
      /token_endpoint_auth_method: "mtls" is not accepted\. Accepted: /,
    ],
  ])('rejects %s without creating a client', async (_, options, message) => {
    await using place = await withUser()
    expect(await place.run('clients', 'create', ...minimal, ...options)).toEqual(refused(message))
    expect(count(place.database, 'oauth2server_client')).toBe(0)
  })
})

test('clients reset-secret prints the ID and the new secret, and rejects a public client', async () => {
  await using place = await withUser()
  const { client, clientSecret } = await place.client()
  const { stdout } = await place.run('clients', 'reset-secret', '--client-id', client.clientId)
  const printed = JSON.parse(stdout)
  expect(Object.keys(printed)).toEqual(['client_id', 'client_secret'])
  const after = await place.server.clients.find(client.clientId)
  expect(after?.checkSecret(printed.client_secret, Date.now())).toBe(true)
  expect(after?.checkSecret(clientSecret, Date.now())).toBe(false)

  const open = await place.client({ isConfidential: false })
  expect(await place.run('clients', 'reset-secret', '--client-id', open.client.clientId)).toEqual(
    refused('client_secret: A public client has no secret.'),
  )
})

test('clients reset-id prints the new ID, and does not change the secret', async () => {
  await using place = await withUser()
  const { client, clientSecret } = await place.client()
  const { stdout } = await place.run('clients', 'reset-id', '--client-id', client.clientId)
  const printed = JSON.parse(stdout)
  expect(Object.keys(printed)).toEqual(['client_id'])
  expect(await place.server.clients.find(client.clientId)).toBeUndefined()
  expect(
    (await place.server.clients.find(printed.client_id))?.checkSecret(clientSecret, Date.now()),
  ).toBe(true)
})

test('clients delete prints nothing, and rejects unknown IDs and the client of a personal token', async () => {
  await using place = await withUser()
  const { client } = await place.client()
  expect(await place.run('clients', 'delete', '--client-id', client.clientId)).toEqual(silent)
  expect(await place.server.clients.find(client.clientId)).toBeUndefined()
  const token = await place.server.tokens.createPersonal('Token', place.userId)
  for (const id of [client.clientId, token.clientId]) {
    const outcome = await place.run('clients', 'delete', '--client-id', id)
    expect(outcome).toEqual(refused('There is no such client.'))
  }
  expect(await place.server.tokens.find(token)).toBeDefined()
})

test('clients list prints internal clients with and without --user [T4114]', async () => {
  await using place = await withUser()
  const own = await place.client({ name: 'Own' })
  const internal = await place.client({ name: 'Internal', isInternal: true })
  const others = await place.client({ name: 'Others', userId: null })
  const listed = async (...options: readonly string[]) => {
    const { stdout } = await place.run('clients', 'list', ...options)
    const rows = stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
    return new Map(rows.map(({ client_id: id, is_internal: isInternal }) => [id, isInternal]))
  }
  const mine = [
    [own.client.clientId, false],
    [internal.client.clientId, true],
  ] as const
  expect(await listed('--user', email)).toEqual(new Map(mine))
  expect(await listed()).toEqual(new Map([...mine, [others.client.clientId, false]]))
})
