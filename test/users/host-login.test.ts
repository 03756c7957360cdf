import {
  type AuthorizationServerOptions,
  InvalidSettings,
  type ResourceOwner,
  type User,
} from 'svc-oauth2server'
import { createTestServer } from 'svc-oauth2server/testing'
import { expect, test } from 'vitest'

// The session and the login of the application, independent of the framework. Each framework has its own suite.

const redirectUri = 'https://client.example/cb'

const start = async (
  options: Partial<AuthorizationServerOptions>,
  owner: (user: User) => ResourceOwner | Promise<ResourceOwner> = () => null,
) => {
  const server = await createTestServer({ resourceOwner: () => owner(user), ...options })
  const user: User = await server.users.create({ email: 'a@example.org', password: null })
  const { client, clientSecret } = await server.clients.create({
    name: 'Client',
    userId: user.id,
    redirectUris: [redirectUri],
  })
  const authorize = async (parameters: Record<string, string> = {}) => {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: client.clientId,
      ...parameters,
    })
    const { pathname } = new URL(`${server.issuer}/oauth/authorize`)
    const request = new Request(`http://internal:8080${pathname}?${query}`)
    return new URL(
      (await server.fetch(request)).headers.get('location') ?? 'none:',
      'http://browser.example',
    )
  }
  const push = async (parameters: Record<string, string>) => {
    const response = await server.fetch(
      new Request('http://internal:8080/oauth/par', {
        method: 'POST',
        body: new URLSearchParams({
          client_id: client.clientId,
          client_secret: clientSecret,
          response_type: 'code',
          ...parameters,
        }),
      }),
    )
    const { request_uri } = (await response.json()) as { request_uri: string }
    return { client_id: client.clientId, request_uri }
  }
  return { server, user, authorize, push }
}

test.each([
  ['/enter', 'http://browser.example/enter'],
  ['/enter?theme=dark', 'http://browser.example/enter?theme=dark'],
  ['https://login.example.org/start', 'https://login.example.org/start'],
])(
  'sends the user to the loginUrl %s with a return path on this server',
  async (loginUrl, expected) => {
    const { server, authorize } = await start({ loginUrl, issuer: 'https://app.example/shop' })
    const login = await authorize({ state: 'https://evil.example/?a=b&c', client_secret: 'hidden' })
    const next = login.searchParams.get('next') ?? ''
    login.searchParams.delete('next')
    expect(login.href).toBe(expected)
    expect(next).toMatch(/^\/shop\/oauth\/authorize\?response_type=code&/)
    const back = new URL(next, 'https://app.example')
    expect(back.origin).toBe('https://app.example')
    expect(back.searchParams.get('state')).toBe('https://evil.example/?a=b&c')
    expect(next).not.toContain('hidden')
    await server.close()
  },
)

test('prompt=login requires a new login', async () => {
  const { server, authorize } = await start({ loginUrl: '/enter' }, ({ id }) => id)
  const login = await authorize({ prompt: 'login' })
  expect([login.pathname, login.searchParams.get('prompt')]).toEqual(['/enter', 'login'])
  expect(login.searchParams.get('next')).not.toContain('prompt')
  await server.close()
})

test('RFC 9126 §4 prompt=login of a pushed request: accepts the return from the login, and requires a login for any other use', async () => {
  const { server, user, authorize, push } = await start({ loginUrl: '/enter' }, ({ id }) => id)
  const asked = await push({ prompt: 'login' })
  const first = await authorize(asked)
  expect([first.pathname, first.searchParams.get('prompt')]).toEqual(['/enter', 'login'])
  const reloaded = await authorize(asked)
  expect([reloaded.pathname, reloaded.searchParams.get('prompt')]).toEqual(['/enter', 'login'])
  await server.consents.grant(user.id, asked.client_id, [])
  const next = new URL(reloaded.searchParams.get('next') ?? '', server.issuer)
  const response = await authorize(Object.fromEntries(next.searchParams))
  expect(response.origin + response.pathname).toBe(redirectUri)
  expect(response.searchParams.get('code')).toBeTruthy()
  await server.close()
})

test('prompt=none redirects with an error to the client if nobody is logged in', async () => {
  const { server, authorize } = await start({ loginUrl: '/enter' })
  const response = await authorize({ prompt: 'none' })
  expect(response.origin + response.pathname).toBe(redirectUri)
  expect(response.searchParams.get('error')).toBe('login_required')
  await server.close()
})

test('binds the JWT of a session without an ID only to the user', async () => {
  let owner: ResourceOwner = null
  const { server, user } = await start({ loginUrl: '/enter' }, async () => owner)
  const { id } = user
  owner = id
  const page = () => server.pageSession({ cookie: null, address: '', userAgent: '', raw: {} })
  const jwt = (await page()).jwtToken()
  const ask = () =>
    server.resourceServer.resolve({
      authorization: `Bearer ${jwt}`,
      cookie: null,
      method: 'GET',
      path: '/',
      query: '',
      address: '',
      userAgent: '',
      raw: {},
      headers: () => new Headers({ authorization: `Bearer ${jwt}` }),
    })
  expect((await ask()).auth).toMatchObject({ kind: 'session', user: { id } })
  expect((await page()).links).toEqual({
    script: '/oauth/session.js',
    login: '/enter',
    logout: null,
    applications: '/account/settings/applications/',
  })
  owner = { id, sessionId: 'x' }
  await expect(ask()).rejects.toThrow('The JWT token is not valid.')
  owner = { id: 99 }
  await expect(ask()).rejects.toThrow('Authentication is needed.')
  await server.close()
})

test('does not start without loginUrl, because users could not log in', async () => {
  await expect(createTestServer({ resourceOwner: () => 1 })).rejects.toThrow(InvalidSettings)
})

test.each([
  '//evil.example',
  '/\\evil.example',
  'http://evil.example/',
  'javascript:alert(1)',
  'login',
])('rejects loginUrl %s', async (loginUrl) => {
  await expect(createTestServer({ resourceOwner: () => 1, loginUrl })).rejects.toThrow('loginUrl')
})

test('the settings pages link to logoutUrl, the logout of the application', async () => {
  const { server, user } = await start(
    { loginUrl: '/enter', logoutUrl: '/leave' },
    async () => owner,
  )
  const owner = user.id
  const page = await (
    await server.fetch(new Request('http://internal:8080/account/settings/applications/'))
  ).text()
  expect(page).toContain('<a href="/leave" class="button quiet">Log out</a>')
  await server.close()
})

test('the settings pages contain a logout link only with logoutUrl', async () => {
  const { server, user } = await start({ loginUrl: '/enter' }, async () => owner)
  const owner = user.id
  const page = await (
    await server.fetch(new Request('http://internal:8080/account/settings/applications/'))
  ).text()
  expect(page).toContain('a@example.org')
  expect(page).not.toContain('Log out')
  await server.close()
})

test('rejects logoutUrl without resourceOwner, because the built-in login has its own logout', async () => {
  await expect(createTestServer({ logoutUrl: '/leave' })).rejects.toThrow(
    /logoutUrl .* requires resourceOwner/,
  )
})

test('the consent page links to the login of the application for a user with another account', async () => {
  const { server, authorizeUrl } = await startWithClient()
  const page = await (await server.fetch(new Request(authorizeUrl))).text()
  const [, link = ''] = /<a href="([^"]*)">Not you\? Use another account<\/a>/.exec(page) ?? []
  const response = await server.fetch(new Request(new URL(link, authorizeUrl)))
  const login = new URL(`${response.headers.get('location')}`, 'http://browser.example')
  expect(login.pathname).toBe('/enter')
  expect(login.searchParams.get('prompt')).toBe('login')
  // The login returns to the same request.
  const next = new URL(`${login.searchParams.get('next')}`, authorizeUrl)
  expect(next.href).toBe(authorizeUrl)
  await server.close()
})

const startWithClient = async () => {
  const { server, user, authorize } = await start({ loginUrl: '/enter' }, async () => owner)
  let owner: ResourceOwner = null
  const login = await authorize({ state: 'a b&c' })
  owner = user.id
  return { server, authorizeUrl: `http://internal:8080${login.searchParams.get('next')}` }
}
