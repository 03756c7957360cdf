import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Scope, type User } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { workplace } from '../cli/workplace.ts'
import { root } from '../support/processes.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { browser, type LoggedIn, logIn } from '../support/session.ts'
import { tokenRequest, UserAgent } from '../support/user-agent.ts'

// Every place where a person or a program names a user by an e-mail address is a door. The doors come from the OpenAPI
// document, the sources of the pages and the sources of the command line, so a new door needs a line here.

const stored = 'ada@xn--bcher-kva.example'
const spellings = [stored, 'ada@bücher.example', 'ADA@Bücher.Example.']

let app: TestServer
let ada: User
let admin: LoggedIn
const links: string[] = []
beforeAll(async () => {
  app = await startServer({
    allowedGrantTypes: ['authorization_code', 'password', 'client_credentials'],
    signUp: true,
    sendUserLink: ({ email }) => {
      links.push(email)
    },
    openidConnect: true,
    scopes: [new Scope('notes:read')],
    dangerouslyIgnoreLimits: true,
  })
  await app.server.users.setAdmin(app.user.id, true)
  admin = await logIn(app)
  ada = await app.newUser({ email: spellings[1] as string })
})
afterAll(() => app.close())

const asAdmin = (path: string, body?: Record<string, string>) =>
  fetch(`${app.issuer}${path}`, {
    ...(body && { method: 'POST', body: new URLSearchParams(body) }),
    redirect: 'manual',
    headers: {
      cookie: admin.cookie,
      'user-agent': browser,
      accept: 'application/json',
      authorization: `Bearer ${admin.jwt}`,
    },
  })

const json = async (path: string): Promise<string> => {
  const response = await asAdmin(path)
  expect(response.status).toBe(200)
  return response.text()
}

const withQuery = (path: string, name: string, email: string): string =>
  `${path}?${new URLSearchParams({ [name]: email })}`

/** Fills the form of a page, and returns the answer. */
const filled = async (path: string, fields: Record<string, string>): Promise<Response> => {
  const visitor = new UserAgent({ 'user-agent': browser })
  return visitor.submit(await visitor.browse(`${app.issuer}${path}`), fields)
}

const commands: Record<string, (email: string) => readonly string[]> = {
  'users --email': () => [],
  'tokens --user': (email) => ['tokens', 'create', '--name', 'T', '--user', email],
  'clients --user': (email) => ['clients', 'list', '--user', email],
  'audit --user': (email) => ['audit', '--user', email],
  'users --user': (email) => ['users', 'promote', '--user', email],
}

/** For each door, a check that this spelling of the address names Ada. */
const doors: Readonly<Record<string, (email: string) => Promise<void>>> = {
  async 'get /admin/activity/ user'(email) {
    expect(await json(withQuery('/admin/activity/', 'user', email))).toContain('"user.created"')
  },
  async 'get /admin/activity/export/ user'(email) {
    const csv = await asAdmin(withQuery('/admin/activity/export/', 'user', email))
    expect(await csv.text()).toContain('user.created')
  },
  async 'get /admin/applications/ client'(email) {
    const { clientId } = await app.client({ name: 'Of Ada', userId: ada.id })
    expect(await json(withQuery('/admin/applications/', 'client', email))).toContain(clientId)
    await app.server.clients.delete(clientId)
  },
  async 'get /admin/applications/ token'(email) {
    const { id } = await app.server.tokens.createPersonal('Of Ada', ada.id)
    expect(await json(withQuery('/admin/applications/', 'token', email))).toContain(String(id))
  },
  async 'get /admin/tokens/ token'(email) {
    const { id } = await app.server.tokens.createPersonal('Of Ada', ada.id)
    expect(await json(withQuery('/admin/tokens/', 'token', email))).toContain(String(id))
  },
  async 'get /admin/users/ user'(email) {
    expect(await json(withQuery('/admin/users/', 'user', email))).toContain(String(ada.id))
  },
  async 'post /admin/users/ user'(email) {
    const { status, headers } = await asAdmin('/admin/users/', { user: email })
    expect(status).toBeLessThan(400)
    const location = headers.get('location') ?? `/admin/users/?user=${encodeURIComponent(email)}`
    expect(
      await json(new URL(location, app.issuer).pathname + new URL(location, app.issuer).search),
    ).toContain(String(ada.id))
  },
  async 'post /oauth/token username'(email) {
    const { clientId, clientSecret } = await app.client()
    const { status } = await tokenRequest(
      app.issuer,
      { grant_type: 'password', username: email, password: app.password },
      { basic: { clientId, clientSecret } },
    )
    expect(status).toBe(200)
  },
  async 'page login.ts'(email) {
    await logIn({ ...app, user: { ...ada, email } })
  },
  async 'page request-link.ts'(email) {
    expect((await filled('/login/forgot-password', { email })).status).toBe(200)
    expect(links.splice(0)).toEqual([stored])
    // A sign-up with the address of a user becomes a reset of the password.
    expect((await filled('/login/sign-up', { email })).status).toBe(200)
    expect(links.splice(0)).toEqual([stored])
  },
}

const viewsOf = (folder: string): readonly (readonly [string, string])[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [name, readFileSync(join(root, folder, name), 'utf8')])

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly description?: string }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}
interface Schema {
  readonly $ref?: string
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>
}

const named = (name: string, description = ''): boolean =>
  /e-mail/i.test(description) || /^(?:email|username)$/.test(name)

describe('an e-mail address names the same user in every spelling', () => {
  test('at every input of the API and of the pages [T3813]', async () => {
    const document = (await (await fetch(`${app.issuer}/openapi.json`)).json()) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
      readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
    }
    const fieldsOf = (schema: Schema): readonly (readonly [string, string | undefined])[] => {
      const named = document.components.schemas[schema.$ref?.split('/').at(-1) ?? '']
      const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(named ? [named] : [])]
      const own = Object.entries(schema.properties ?? {}).map(
        ([name, { description }]) => [name, description] as const,
      )
      return [...own, ...parts.flatMap(fieldsOf)]
    }
    const found = new Set<string>()
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, { parameters = [], requestBody }] of Object.entries(operations)) {
        const fields = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
          fieldsOf(schema),
        )
        for (const { name, description } of parameters)
          if (named(name, description)) found.add(`${method} ${path} ${name}`)
        for (const [name, description] of fields)
          if (named(name, description)) found.add(`${method} ${path} ${name}`)
      }
    }
    for (const [name, source] of viewsOf('src/pages/views'))
      if (/name="email"|name: 'email'/.test(source)) found.add(`page ${name}`)
    expect([...found].sort()).toEqual(Object.keys(doors).sort())
  })

  test.each(Object.entries(doors))('%s [T3814]', async (_name, names) => {
    for (const email of spellings) await names(email)
  })

  test('at every option of the command line [T3815]', async () => {
    const found = viewsOf('src/cli').flatMap(([file, source]) =>
      [...source.matchAll(/'(--\w+) <\w+>',\s*'[^']*e-mail/g)].map(
        ([, option = '']) => `${file.replace('.ts', '')} ${option}`,
      ),
    )
    expect([...new Set(found)].sort()).toEqual(Object.keys(commands).sort())
    await using place = await workplace()
    const [created, taken, ...rest] = await place.runAll([
      ['users', 'create', '--email', spellings[2] as string],
      ['users', 'create', '--email', stored],
      ...Object.values(commands)
        .map((command) => command(spellings[1] as string))
        .filter(({ length }) => length > 0),
      ['users', 'set-email', '--user', spellings[1] as string, '--email', 'Ada@Example.org'],
      ['users', 'list'],
    ])
    expect(JSON.parse(created?.stdout ?? '')).toMatchObject({ email: stored })
    expect(taken?.stderr).toContain('taken')
    expect(rest.filter(({ code }) => code !== 0)).toEqual([])
    expect(rest.at(-1)?.stdout).toContain('"ada@example.org"')
  })
})

describe('an address with an invisible character', () => {
  test('is refused with the reason where an account is created, and where a user logs in [T3816]', async () => {
    for (const path of ['/login', '/login/forgot-password', '/login/sign-up']) {
      const page = await filled(path, { email: 'ada\u200B@example.org', password: 'a password' })
      expect(page.status).toBe(path === '/login' ? 403 : 400)
      expect(await page.text()).toContain('The address contains an invisible character.')
    }
    const page = await filled('/login/sign-up', { email: 'аda@example.org' })
    expect([page.status, await page.text()]).toEqual([
      400,
      expect.stringContaining('The address contains letters that look like other letters.'),
    ])
    expect(links).toEqual([])
  })
})
