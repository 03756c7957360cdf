import { rest } from 'svc-oauth2server/fetch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'

const wellKnown = '/.well-known/oauth-protected-resource'
const issuer = 'https://api.example.org/app'
const notes = `${issuer}/notes`
const tools = 'https://api.example.org/tools'
const elsewhere = 'https://other.example/notes'

type Metadata = Record<string, unknown>

let app: TestServer
/** The origin at which the server listens. A proxy would forward requests for the issuer to this origin. */
let origin: string
beforeAll(async () => {
  app = await startServer({
    issuer,
    resources: [
      {
        resource: notes,
        name: 'Notes',
        scopes: ['notes:write'],
        documentation: 'https://docs.example',
      },
      { resource: tools, scopes: [] },
      { resource: elsewhere },
    ],
  })
  origin = new URL(app.issuer).origin
})
afterAll(() => app.close())

const at = async (path: string): Promise<Metadata> =>
  (await fetch(`${origin}${path}`)).json() as Promise<Metadata>

/** Returns the metadata URL in the challenge of a resource. */
const addressOf = async ({ server }: TestServer, resource: string): Promise<string | undefined> => {
  const headers = { authorization: 'Bearer wrong' }
  const refusal = await rest(server, new Request(resource, { headers }), {}, { resource })
  const challenge = refusal?.headers.get('www-authenticate') ?? ''
  return /resource_metadata="([^"]*)"/.exec(challenge)?.[1]
}

describe('RFC 9728 §3 the metadata URL', () => {
  test.each([
    ['the whole application', issuer, ['', '/app'], '/app'],
    ['a resource below the issuer', notes, ['/app/notes'], '/app/notes'],
    ['a resource with a path outside the issuer', tools, ['/tools'], '/tools'],
  ])(
    '§3.1 returns the metadata of %s at its well-known URLs [T438]',
    async (_, resource, inserted, path) => {
      for (const address of [...inserted.map((end) => wellKnown + end), `${path}${wellKnown}`])
        expect([address, (await at(address)).resource]).toEqual([address, resource])
    },
  )

  test('returns 404 at other URLs, and for a resource on another host [T442]', async () => {
    for (const path of [
      `${wellKnown}/`,
      `${wellKnown}/app/`,
      `${wellKnown}/other`,
      `${wellKnown}/notes`,
      `${wellKnown}/tools/app`,
      `/tools${wellKnown}/tools`,
      `/notes${wellKnown}`,
    ])
      expect([path, (await fetch(`${origin}${path}`)).status]).toEqual([path, 404])
  })

  test('§3.1 distinguishes resources that differ only by a trailing slash of the path [T441]', async () => {
    const tree = { resource: `${tools}/`, name: 'Tree' }
    for (const resources of [[{ resource: tools }, tree], [tree, { resource: tools }], [tree]]) {
      await using other = await startServer({ issuer, resources })
      const { origin: there } = new URL(other.issuer)
      for (const { resource } of resources) {
        const address = await addressOf(other, resource)
        expect(address).toBe(resource.replace('/tools', `${wellKnown}/tools`))
        const response = await fetch(`${there}${new URL(address ?? '').pathname}`)
        expect([response.status, ((await response.json()) as Metadata).resource]).toEqual([
          200,
          resource,
        ])
      }
      const without = await fetch(`${there}${wellKnown}/tools`, { redirect: 'manual' })
      expect(without.status).toBe(resources.length === 1 ? 404 : 200)
    }
  })

  test('§3.1 for a resource without a path, returns its metadata at the well-known URL without a path', async () => {
    for (const resource of ['https://api.example.org', 'https://api.example.org/']) {
      await using other = await startServer({ issuer, resources: [{ resource }] })
      expect(await addressOf(other, resource)).toBe(`https://api.example.org${wellKnown}`)
      const { origin: there } = new URL(other.issuer)
      for (const [path, about] of [
        ['', resource],
        ['/app', issuer],
      ] as const)
        expect(await (await fetch(`${there}${wellKnown}${path}`)).json()).toMatchObject({
          resource: about,
        })
    }
  })

  test('§3.3 returns 404 for other spellings of a metadata URL [T445]', async () => {
    for (const path of ['%74ools', 'tools%2F', 'app%2Fnotes', 'app/n%6Ftes', '%61pp'])
      for (const ask of [fetch, (url: string) => app.server.fetch(new Request(url))])
        expect([path, (await ask(`${origin}${wellKnown}/${path}`)).status]).toEqual([path, 404])
  })

  test('§3.2 returns 200 and cacheable JSON without authentication [T443]', async () => {
    const response = await fetch(`${origin}${wellKnown}/app/notes`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^application\/json\b/)
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('set-cookie')).toBeNull()
  })
})

describe('RFC 9728 §2 the content of the metadata', () => {
  test('describes the whole application by default [T434]', async () => {
    expect(await at(wellKnown)).toMatchObject({
      resource: issuer,
      authorization_servers: [issuer],
      scopes_supported: ['notes:read', 'notes:write', 'user:email'],
      bearer_methods_supported: ['header', 'query'],
    })
  })

  test('describes a resource with the values in the option resources [T435]', async () => {
    expect(await at(`${wellKnown}/app/notes`)).toMatchObject({
      resource: notes,
      authorization_servers: [issuer],
      scopes_supported: ['notes:write'],
      resource_name: 'Notes',
      resource_documentation: 'https://docs.example',
    })
  })

  test('describes the whole application with its values in the option resources [T437]', async () => {
    const resource = 'https://api.example.org/'
    await using other = await startServer({
      issuer: 'https://api.example.org',
      resources: [{ resource, name: 'Everything', scopes: ['notes:read'] }],
    })
    expect(await (await fetch(`${new URL(other.issuer).origin}${wellKnown}`)).json()).toMatchObject(
      {
        resource: 'https://api.example.org',
        resource_name: 'Everything',
        scopes_supported: ['notes:read'],
      },
    )
  })

  test('§3.2 omits empty lists and missing members [T444]', async () => {
    const metadata = await at(`${wellKnown}/tools`)
    for (const name of ['scopes_supported', 'resource_name', 'resource_documentation'])
      expect(metadata).not.toHaveProperty(name)
    expect(Object.values(metadata).filter((value) => `${value}` === '')).toEqual([])
  })

  test('omits internal scopes and disabled bearer methods [T436]', async () => {
    await using other = await startServer({ acceptQueryAccessToken: false })
    const metadata = (await (await fetch(`${other.issuer}${wellKnown}`)).json()) as Metadata
    expect(metadata.bearer_methods_supported).toEqual(['header'])
    expect(JSON.stringify(metadata)).not.toContain('test:scope')
  })

  test('returns the same metadata even if forwarding headers name another host', async () => {
    const expected = await at(wellKnown)
    const response = await fetch(`${origin}${wellKnown}`, {
      headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' },
    })
    expect(await response.json()).toEqual(expected)
  })
})

test('RFC 9728 §4 lists every resource in the metadata of the authorization server [T447]', async () => {
  const metadata = await at('/.well-known/oauth-authorization-server/app')
  expect(metadata.protected_resources).toEqual([issuer, notes, tools, elsewhere])
})

test('RFC 9728 §5.1 returns the metadata URL of the requested resource in a challenge [T446]', async () => {
  const challenge = (await fetch(`${origin}/app/oauth/ping`)).headers.get('www-authenticate') ?? ''
  const address = /^Bearer .*resource_metadata="([^"]+)"$/.exec(challenge)?.[1] ?? ''
  expect(address).toBe(`https://api.example.org${wellKnown}/app`)
  expect((await at(new URL(address).pathname)).resource).toBe(issuer)
})
