import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { complaints, freePort, runNode } from '../support/processes.ts'
import { formIn, UserAgent } from '../support/user-agent.ts'
import { environmentOf, mainProgram, refused, workplace } from './workplace.ts'

test('serve runs the authorization server without an application, with a start page for login and logout', async () => {
  await using place = await workplace()
  const account = { user: { email: 'me@example.org' }, password: 'correct horse battery staple' }
  const server = await place.open()
  await server.users.create({ email: account.user.email, password: account.password })
  await server.close()
  const port = await freePort()
  const issuer = `http://localhost:${port}/auth`
  await using program = runNode([mainProgram, 'serve'], {
    cwd: place.folder,
    env: { ...environmentOf(place.database), PORT: String(port), BASE_URL: issuer },
  })
  await program.says(/listens/, { on: 'stderr' })
  expect(complaints(program)).toEqual([
    `The authorization server of ${issuer} listens on 127.0.0.1, port ${port}.`,
  ])

  const agent = new UserAgent({ 'user-agent': 'A browser' })
  const anonymous = await agent.fetch(`${issuer}/`)
  expect(anonymous.status).toBe(200)
  expect(anonymous.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(await anonymous.text()).toMatch(/Nobody is logged in[\s\S]*href="\/auth\/login"/)

  const login = await agent.submit(await agent.browse(`${issuer}/login`), {
    email: account.user.email,
    password: account.password,
  })
  expect([login.status, login.headers.get('location')]).toEqual([303, '/auth/'])
  const home = await agent.fetch(`${issuer}/`)
  const html = await home.text()
  expect(html).toContain('<strong><bdi>me@example.org</bdi></strong>')
  const { action, hidden } = formIn(html)
  expect(action).toBe('/auth/logout')
  const logout = await agent.fetch(new URL(action, issuer), {
    method: 'POST',
    body: new URLSearchParams(hidden),
  })
  expect([logout.status, logout.headers.get('location')]).toEqual([303, '/auth/'])
  expect(await (await agent.fetch(`${issuer}/`)).text()).toContain('Nobody is logged in')

  const metadata = await fetch(
    `http://localhost:${port}/.well-known/oauth-authorization-server/auth`,
  )
  expect(await metadata.json()).toMatchObject({ issuer })
  expect((await fetch(`${issuer}/api/notes`)).status).toBe(404)

  expect(await program.stop()).toEqual({ code: 0, signal: null })
  expect(program.stdout).toBe('')
})

test.each([
  ['variables', 'variables'],
  ['options', 'options'],
  ['a description in JSON', 'json'],
])('serve lets an external resource server introspect tokens, by %s [T1422]', async (_what, by) => {
  await using place = await workplace()
  const server = await place.open()
  const user = await server.users.create({ email: 'me@example.org', password: null })
  const newClient = async (name: string) => {
    const { client, clientSecret } = await server.clients.create({ name, userId: user.id })
    return { id: client.clientId, basic: `Basic ${btoa(`${client.clientId}:${clientSecret}`)}` }
  }
  const [api, app, stranger] = [
    await newClient('API'),
    await newClient('App'),
    await newClient('Other'),
  ]
  await server.close()
  const port = await freePort()
  const issuer = `http://localhost:${port}`
  const files = 'https://files.example.org'
  const described = [{ resource: files, name: 'Files', introspectionClients: [api.id] }]
  const env = {
    variables: { OAUTH2SERVER_RESOURCES: files, OAUTH2SERVER_INTROSPECTION_CLIENTS: api.id },
    json: { OAUTH2SERVER_RESOURCES: JSON.stringify(described) },
    options: {},
  }[by]
  const options = by === 'options' ? ['--resource', files, '--introspection-client', api.id] : []
  await using program = runNode([mainProgram, 'serve', ...options], {
    cwd: place.folder,
    env: { ...environmentOf(place.database), PORT: String(port), ...env },
  })
  await program.says(/listens/, { on: 'stderr' })
  const post = async (path: string, fields: Record<string, string>, authorization: string) => {
    const body = new URLSearchParams(fields)
    const response = await fetch(`${issuer}${path}`, {
      method: 'POST',
      body,
      headers: { authorization },
    })
    return (await response.json()) as Record<string, unknown>
  }
  const machine = { grant_type: 'client_credentials' }
  const issued = await post('/oauth/token', { ...machine, resource: files }, app.basic)
  const token = String(issued.access_token)
  const found = await post('/oauth/introspect', { token }, api.basic)
  expect(found).toMatchObject({ active: true, aud: files, client_id: app.id })
  expect(await post('/oauth/introspect', { token }, stranger.basic)).toEqual({ active: false })
  const whole = String((await post('/oauth/token', machine, app.basic)).access_token)
  const ofWhole = await post('/oauth/introspect', { token: whole }, api.basic)
  expect(ofWhole).toMatchObject({ active: true, aud: issuer })
})

test.each([
  'not a url',
  '[{"resource":1}]',
  '[{"resource":"https://a.example","more":1}]',
  '[',
  'http://a.example',
])('serve refuses the resources %j [T1423]', async (resources) => {
  await using place = await workplace()
  const env = { OAUTH2SERVER_RESOURCES: resources, OAUTH2SERVER_SECURITY_PROFILE: 'oauth2.1' }
  const { code, stderr } = await place.runWith({ env }, 'serve')
  expect(code).toBe(1)
  expect(stderr).toMatch(/OAUTH2SERVER_RESOURCES accepts|resources: .*https URL/)
})

test('serve reports a port in use in one line', async () => {
  await using place = await workplace()
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  try {
    // This profile disables the settings that cause warnings.
    const env = { PORT: String(port), OAUTH2SERVER_SECURITY_PROFILE: 'oauth2.1' }
    expect(await place.runWith({ env }, 'serve')).toEqual(
      refused(
        `Port ${port} on 127.0.0.1 is already in use. Choose another port or host, for instance with PORT=3001.`,
      ),
    )
  } finally {
    other.close()
  }
})
