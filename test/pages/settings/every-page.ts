import type { UserLinkPurpose } from 'svc-oauth2server'
import { expect, vi } from 'vitest'
import { Scope } from '../../../src/model/scope.ts'
import { homeEndpoint } from '../../../src/protocol/endpoints/operations/home.ts'
import { directions } from '../../support/languages.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { browser } from '../../support/session.ts'
import { TestClient, UserAgent } from '../../support/user-agent.ts'
import { at, type Fields, Page, Person } from './support.ts'

const translated = (id: string): Scope =>
  new Scope(id, {
    helpText: `help of ${id}, en`,
    group: 'group, en',
    translations: Object.fromEntries(
      [...directions.keys()].map((code) => [
        code,
        { helpText: `help of ${id}, ${code}`, group: `group, ${code}` },
      ]),
    ),
  })

/** A server with an object of each type that a page can show. */
export interface World extends AsyncDisposable {
  readonly app: TestServer
  readonly person: Person
  readonly admin: Person
  readonly clientId: string
  readonly publicId: string
  readonly tokenId: number
  /** The pages that a browser can open with GET. */
  readonly pages: readonly OpenPage[]
  close(): Promise<void>
}

/** The name, the path and the expected status of a page, and the user who opens the page. */
export interface OpenPage {
  readonly name: string
  readonly path: string
  readonly status: number
  readonly who: Person
}

export const newWorld = async (): Promise<World> => {
  const links = new Map<UserLinkPurpose, string>()
  const app = await startServer({
    scopes: [translated('notes:read'), translated('notes:write'), new Scope('plain')],
    extensions: [{ name: 'home', endpoints: [homeEndpoint] }],
    applicationName: 'The Notes',
    deviceAuthorization: true,
    openidConnect: true,
    // The form for the default resource of a client needs several resources.
    resources: [{ resource: 'https://one.example' }, { resource: 'https://two.example' }],
    signUp: true,
    sendUserLink: ({ purpose, url }) => void links.set(purpose, url.slice(app.issuer.length)),
  })
  const person = await Person.logIn(app)
  const admin = await Person.stranger(app, { isAdmin: true, emailVerified: false })
  await admin.post(at.verifyEmail)
  // Read the notice, so that every visit of the sessions page shows the same content.
  await admin.get(at.sessions)
  for (const [path, email] of [
    ['forgot-password', app.user.email],
    ['sign-up', 'newcomer@example.org'],
  ] as const) {
    const newcomer = new UserAgent()
    await newcomer.submit(await newcomer.browse(`${app.issuer}/login/${path}`), { email })
  }
  const linkFor = (purpose: UserLinkPurpose): Promise<string> =>
    vi.waitFor(() => links.get(purpose) ?? expect.fail(`no link to ${purpose}`))
  const { clientId } = await app.client({
    name: 'Printer',
    description: 'Prints what you wrote',
    website: 'https://printer.example',
    defaultScopes: ['notes:read'],
    optionalScopes: ['plain'],
  })
  await app.server.clients.resetClientSecret(clientId, { overlap: 86_400 })
  const { clientId: publicId } = await app.client({ name: 'Phone', isConfidential: false })
  await app.server.clients.mark(publicId, { isVerified: true, isDisabled: true })
  const { id: tokenId } = await app.server.tokens.createPersonal('Laptop', app.user.id, {
    scopes: ['notes:read', 'plain'],
    expiresIn: 86_400,
  })
  const { accessToken } = await app.server.personalTokens.rotate(tokenId, { overlap: 3_600 })
  await fetch(`${app.issuer}/api/notes`, { headers: { authorization: `Bearer ${accessToken}` } })
  const diary = await TestClient.register(app, person.session.agent, {
    name: 'Diary',
    website: 'https://diary.example',
  })
  await diary.tokens({ scope: 'notes:read plain' })
  const bare = await TestClient.register(app, person.session.agent, { name: 'Diary' })
  await bare.tokens({ scope: '' })
  await new UserAgent({ 'user-agent': 'a program' }).logIn(app)
  for (const act of ['verify', 'disable', 'enable', 'unverify'])
    await admin.post(at.admin, { client_id: clientId, act })
  await admin.get(at.admin)
  const list = await person.get(at.list)
  const deviceOf = (id: string): string => {
    const item = list.items.find((html) => html.includes(`"${at.revokeApplication(id)}"`))
    return /\/tokens\/(\d+)\/view\//.exec(item ?? '')?.[1] ?? ''
  }
  const found = await person.post(at.leaked, { credential: accessToken })
  const stranger = new Person(
    app,
    { ...person.session, agent: new UserAgent({ 'user-agent': browser, accept: 'text/html' }) },
    app.user,
  )
  const consent = new URL(diary.url({ prompt: 'consent', scope: 'notes:read plain' }))
  const posing = await TestClient.register(app, person.session.agent, {
    name: 'Dіary',
    description: 'Prints what you wrote',
    redirectUris: ['http://localhost:9/cb'],
    optionalScopes: ['plain'],
  })
  const warning = new URL(posing.url({ scope: 'notes:read plain' }))
  const open = (name: string, path: string, who = person, status = 200): OpenPage => ({
    name,
    path,
    who,
    status,
  })
  return {
    app,
    person,
    admin,
    clientId,
    publicId,
    tokenId,
    pages: [
      open('home, logged out', '/', stranger),
      open('home', '/'),
      open('home of an administrator', '/', admin),
      open('login', '/login', stranger),
      open('login again', '/login?prompt=login'),
      open('login after a reset', '/login?done=reset_password', stranger),
      open('forgot password', '/login/forgot-password', stranger),
      open('sign-up', '/login/sign-up', stranger),
      open('link to reset the password', await linkFor('reset_password'), stranger),
      open('link to verify the address', await linkFor('verify_email'), stranger),
      open('link to sign up', await linkFor('sign_up'), stranger),
      open('invalid link', '/login/link?token=x', stranger, 400),
      open('consent', `${consent.pathname}${consent.search}`),
      open('consent with warnings', `${warning.pathname}${warning.search}`),
      open('device', '/oauth/device?user_code=wdjb-mjht'),
      open('error', '/oauth/errors?error=invalid_scope&error_description=Diary', stranger, 400),
      open('unknown error', '/oauth/errors?error=x', stranger, 400),
      open('no error', '/oauth/errors', stranger, 400),
      open('applications', at.list),
      open('applications, empty', at.list, admin),
      open('tokens', at.tokens),
      open('tokens, empty', at.tokens, admin),
      open('tokens, nothing found', `${at.tokens}?q=Printer&filter=expired`),
      open('clients', at.clients),
      open('clients, empty', at.clients, admin),
      open('authorized', at.authorized),
      open('authorized, empty', at.authorized, admin),
      open('selected tokens', `${at.selectedTokens}?id=${tokenId}&back=%3Fq%3Dx`),
      open('selected tokens, none', at.selectedTokens),
      open('selected applications', `${at.selectedApplications}?id=${diary.clientId}`),
      open('new client', at.newClient),
      open('client', at.client(clientId)),
      open('public client', at.client(publicId)),
      open('new personal token', at.newToken),
      open('personal token', at.token(tokenId)),
      open('authorization', at.view(deviceOf(diary.clientId))),
      open('authorization without permissions', at.view(deviceOf(bare.clientId))),
      open('sessions', at.sessions),
      open('sessions, alone', at.sessions, admin),
      open('password', at.password),
      open('activity', at.activity),
      open('activity of an administrator', at.activity, admin),
      open('leaked', at.leaked),
      open('leaked, for an administrator', at.leaked, admin),
      open('leaked, found', found.location ?? ''),
      open('everybody’s activity', at.adminActivity, admin),
      open(
        'activity, nothing found',
        `${at.adminActivity}?event=user.deleted&user=none@example.org`,
        admin,
      ),
      open('administration', at.adminHome, admin),
      open('all applications', at.admin, admin),
      open('all applications, nothing found', `${at.admin}?client=Printer`, admin),
      open('any application', at.adminApplication(clientId), admin),
      open('all tokens', at.adminTokens, admin),
      open('all tokens, nothing found', `${at.adminTokens}?token=x`, admin),
      open('users', at.adminUsers, admin),
      open('users, nothing found', `${at.adminUsers}?user=zz`, admin),
      open('user', at.adminUser(app.user.id), admin),
      open('own user', at.adminUser(admin.user.id), admin),
      open('nothing', `${at.list}nothing/`, person, 404),
      open('nothing for others', at.admin, person, 404),
      open('wrong method', at.revokeAll, person, 405),
    ],
    close: app.close,
    [Symbol.asyncDispose]: app.close,
  }
}

/** Submits valid forms, and forms with an error, an old CSRF token or another origin. Returns the resulting pages. */
export const afterForms = async (
  world: World,
  headers: Record<string, string> = {},
): Promise<readonly (readonly [name: string, Page])[]> => {
  const { app, person, admin, clientId, publicId, tokenId } = world
  const post = (path: string, fields: Fields, who = person) => {
    forms += 1
    return who.post(path, { form_id: `form ${forms}`, ...fields }, headers)
  }
  const done = async (name: string, sent: Page, who = person) =>
    [name, await who.get(sent.location ?? '/nowhere', headers)] as const
  const { id: gone } = await app.server.tokens.createPersonal('Laptop', person.user.id)
  const { clientId: extra } = await app.client({ name: 'Printer' })
  const login = await new UserAgent({ 'user-agent': browser, ...headers }).fetch(
    `${app.issuer}/login`,
    { method: 'POST', body: new URLSearchParams({ email: 'x', password: 'y' }) },
  )
  const redirect_uris = 'https://a.example\n\nx\n'
  return [
    ['register, refused', await post(at.newClient, { name: 'Printer', redirect_uris })],
    ['register, stale', await person.postRaw(at.newClient, { name: 'Printer' }, headers)],
    ['register, no name', await post(at.newClient, { name: '' })],
    ['register, long name', await post(at.newClient, { name: 'x'.repeat(41) })],
    ['edit, refused', await post(at.client(clientId), { name: 'Printer', website: 'x' })],
    ['delete, refused', await post(at.client(clientId), { delete: 'yes', confirm_name: 'x' })],
    ['reset, refused', await post(at.reset(clientId), { overlap: 'x' })],
    ['reset of a public client', await post(at.reset(publicId), {})],
    ['token, refused', await post(at.newToken, { name: 'Laptop', expires: '2000-01-01' })],
    ['token, too late', await post(at.newToken, { name: 'Laptop', expires: '9999-01-01' })],
    ['token, scope', await post(at.newToken, { name: 'Laptop', scopes: 'x:y' })],
    ['token, edit', await post(at.token(tokenId), { name: '' })],
    ['rotate, refused', await post(at.rotate(tokenId), { overlap: 'x' })],
    ['revoke, stale', await person.postRaw(at.revokeAll, {}, headers)],
    ['sessions, refused', await post(at.sessions, {})],
    ['sessions, stale', await person.postRaw(at.sessions, {}, headers)],
    ['leaked, refused', await post(at.leaked, { credential: 'x'.repeat(43) })],
    [
      'leaked, refused to an administrator',
      await post(at.leaked, { credential: 'x'.repeat(43) }, admin),
    ],
    ['leaked, refused without a secret', await post(at.leaked, { credential: '' })],
    ['leaked, refused because of its size', await post(at.leaked, { credential: many })],
    ['leaked, stale', await person.postRaw(at.leaked, { credential: 'x' }, headers)],
    ['administer, refused', await post(at.admin, { client_id: clientId, act: 'x' }, admin)],
    [
      'administer an application, refused',
      await post(at.adminApplication(clientId), { act: 'delete', confirm_name: 'x' }, admin),
    ],
    [
      'search, refused',
      await post(at.adminTokens, { search: 'token', token: 'x'.repeat(43) }, admin),
    ],
    ['user, refused', await post(at.adminUser(admin.user.id), { act: 'deactivate' }, admin)],
    ['administer, stale', await admin.postRaw(at.admin, {}, headers)],
    ['not a form', await person.request(at.newClient, { method: 'POST', body: 'x', headers })],
    ['too large', await post(at.newClient, { name: 'x'.repeat(70_000) })],
    [
      'from elsewhere',
      await person.post(at.newClient, {}, { ...headers, 'sec-fetch-site': 'cross-site' }),
    ],
    ['login, refused', new Page(login, await login.text())],
    await done('registered', await post(at.newClient, { name: 'Printer' })),
    await done('saved', await post(at.client(extra), { name: 'Printer' })),
    await done('secret reset', await post(at.reset(extra), {})),
    await done('deleted', await post(at.client(extra), { delete: 'yes', confirm_name: 'Printer' })),
    await done('token created', await post(at.newToken, { name: 'Laptop' })),
    await done('token saved', await post(at.token(gone), { name: 'Laptop' })),
    await done('token rotated', await post(at.rotate(gone), {})),
    await done('token deleted', await post(at.token(gone), { delete: 'yes' })),
    await done(
      'verified',
      await post(at.adminApplication(clientId), { act: 'verify' }, admin),
      admin,
    ),
    await done(
      'enabled',
      await post(at.admin, { client_id: clientId, act: 'enable' }, admin),
      admin,
    ),
  ]
}

let forms = 0

const many = Array.from({ length: 30 }, (_, index) => `${index}`.padStart(43, 'x')).join(' ')

/** Returns the headers of a browser that prefers the language. */
export const asking = (language: string): Record<string, string> => ({
  'accept-language': language,
})
