import type { UserLink } from 'svc-oauth2server'
import { createTestServer } from 'svc-oauth2server/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { logIn } from '../support/session.ts'
import { en } from '../support/texts.ts'
import { UserAgent } from '../support/user-agent.ts'
import { Script } from './api/script.ts'
import { at, body, type Fields, Page, Person } from './settings/support.ts'

const forgot = '/login/forgot-password'
const signUp = '/login/sign-up'
const open = '/login/link'
const verify = at.verifyEmail
const next = 'a new and better password'

const sent: UserLink[] = []
let app: TestServer
beforeAll(async () => {
  app = await startServer({ signUp: true, sendUserLink: (link) => void sent.push(link) })
})
beforeEach(() => {
  sent.length = 0
  // The limits of earlier tests no longer apply.
  app.advance(700)
})
afterAll(() => app.close())

let users = 0
const newUser = (input: { readonly emailVerified?: boolean } = {}) => {
  users += 1
  return app.newUser({ email: `user-${users}@example.org`, ...input })
}

/** A visitor without a session. */
class Visitor {
  readonly agent = new UserAgent()
  readonly app: TestServer

  constructor(server: TestServer = app) {
    this.app = server
  }

  async request(path: string, init: RequestInit = {}): Promise<Page> {
    const response = await this.agent.fetch(new URL(path, this.app.issuer), init)
    return new Page(response, await response.text())
  }

  /** Opens a page, and sends its form with other values. */
  async fill(path: string, fields: Fields): Promise<Page> {
    const page = await this.request(path)
    const form = page.form(path.replace(/\?.*/, ''))
    return this.post(form.action, { ...form.fields, ...fields })
  }

  post(path: string, fields: Fields, headers: Record<string, string> = {}): Promise<Page> {
    return this.request(path, { method: 'POST', body: body(fields), headers })
  }
}

/** Returns the path and the query of the only sent link. */
const linkSent = async (): Promise<string> => {
  await vi.waitFor(() => expect(sent).toHaveLength(1))
  const { pathname, search } = new URL(sent[0]?.url ?? '')
  return pathname + search
}

const requestReset = async (email: string, fields: Fields = {}): Promise<string> => {
  expect((await new Visitor().fill(forgot, { email, ...fields })).status).toBe(200)
  return linkSent()
}

const canLogIn = (email: string, password: string): Promise<boolean> =>
  logIn({ issuer: app.issuer, user: { ...app.user, email }, password }).then(
    () => true,
    () => false,
  )

describe('a password reset', () => {
  test('is linked from the login page, which keeps the path to open after the login', async () => {
    const { html } = await new Visitor().request('/login?next=%2Fnotes%3Fa%3D1')
    expect(html).toContain(`href="${forgot}?next=%2Fnotes%3Fa%3D1"`)
  })

  test('sends a link to the user, sets the password, and ends all sessions', async () => {
    const user = await newUser({ emailVerified: false })
    const person = await Person.logIn(app, { user })
    const path = await requestReset(user.email.toUpperCase())
    const [link] = sent
    expect(link).toMatchObject({ purpose: 'reset_password', email: user.email, expiresIn: 3_600 })
    expect(link?.url).toMatch(new RegExp(`^${app.issuer}${open}\\?token=[A-Za-z0-9]{43}$`))
    const response = await new Visitor().fill(path, { new_password: next })
    expect(response.status).toBe(303)
    expect((await new Visitor().request(`${response.location}`)).done).toBe(
      en.userLinks.reset_password.done,
    )
    expect([await canLogIn(user.email, app.password), await canLogIn(user.email, next)]).toEqual([
      false,
      true,
    ])
    expect((await person.get(at.sessions)).status).toBe(303)
    // The link proves that the user controls the e-mail address.
    expect((await app.server.users.find(user.id))?.emailVerified).toBe(true)
    const { items } = await app.server.activity.listByUser(user.id, { after: null, limit: 10 })
    const changed = items.find(({ event }) => event === 'user.password_changed')
    expect(changed).toMatchObject({ actor: 'user', actorId: String(user.id) })
  })

  // Anyone can request a link for any user.
  test.each([
    ['opens the waiting authorization request after the login in the same browser', true],
    ['opens no path that another browser chose', false],
  ])('%s [T3610]', async (_, isSameBrowser) => {
    const user = await newUser()
    const request = '/oauth/authorize?client_id=x&state=1'
    const requester = new Visitor()
    const page = await requester.fill(`${forgot}?next=${encodeURIComponent(request)}`, {
      email: user.email,
    })
    expect(page.html).toContain(`href="/login?next=${encodeURIComponent(request)}"`)
    const visitor = isSameBrowser ? requester : new Visitor()
    const response = await visitor.fill(await linkSent(), { new_password: next })
    const { pathname, searchParams } = new URL(`${response.location}`, app.issuer)
    expect(pathname).toBe('/login')
    expect(searchParams.get('next')).toBe(isSameBrowser ? request : null)
  })

  test('never redirects to another site', async () => {
    const user = await newUser()
    const visitor = new Visitor()
    await visitor.fill(forgot, { email: user.email, next: 'https://evil.example/' })
    const response = await visitor.fill(await linkSent(), { new_password: next })
    expect(new URL(`${response.location}`, app.issuer).searchParams.get('next')).toBe('/')
  })

  test('returns the same response for an unknown address, the address of an inactive user and a known address', async () => {
    const [known, inactive] = [await newUser(), await newUser()]
    await app.server.users.setActive(inactive.id, false)
    const pages = []
    for (const email of [known.email, inactive.email, 'nobody@example.org']) {
      const { status, text } = await new Visitor().fill(forgot, { email })
      pages.push({ status, text: text.replace(email, 'EMAIL') })
    }
    expect(pages[0]?.text).toContain(en.userLinks.sent('EMAIL'))
    expect(pages[1]).toEqual(pages[0])
    expect(pages[2]).toEqual(pages[0])
    expect(sent.map(({ email }) => email)).toEqual([known.email])
  })

  test('stores the same number of values for a known and an unknown address', async () => {
    const count = async () => (await app.shortLived('user_link:')).length
    const before = await count()
    await new Visitor().fill(forgot, { email: (await newUser()).email })
    const between = await count()
    await new Visitor().fill(forgot, { email: 'nobody-else@example.org' })
    expect([between - before, (await count()) - between]).toEqual([1, 1])
  })

  test.each([
    ['a short password', 'seven77', en.problems.passwordTooShort(8)],
    ['no password', '', en.problems.passwordTooShort(8)],
    ['a huge password', 'x'.repeat(1_025), en.problems.passwordTooLong],
  ])('rejects %s, and the link remains valid', async (_, new_password, sentence) => {
    const user = await newUser()
    const path = await requestReset(user.email)
    const page = await new Visitor().fill(path, { new_password })
    expect([page.status, page.wrong('new_password')]).toEqual([400, sentence])
    expect((await new Visitor().fill(path, { new_password: next })).status).toBe(303)
  })

  test('uses a link once, also if two browsers use it concurrently', async () => {
    const user = await newUser()
    const path = await requestReset(user.email)
    const passwords = ['the first new password', 'the second new password']
    const pages = await Promise.all(
      passwords.map((new_password) => new Visitor().fill(path, { new_password })),
    )
    expect(pages.map(({ status }) => status).sort()).toEqual([303, 400])
    const accepted = passwords[pages.findIndex(({ status }) => status === 303)]
    expect(await canLogIn(user.email, `${accepted}`)).toBe(true)
    const again = await new Visitor().request(path)
    expect([again.status, again.text]).toEqual([
      400,
      expect.stringContaining(en.problem.linkInvalid),
    ])
  })

  test('opening a link does not consume it', async () => {
    const path = await requestReset((await newUser()).email)
    for (const method of ['GET', 'HEAD', 'GET'])
      expect((await new Visitor().request(path, { method })).status).toBe(200)
  })

  test('a link expires after an hour', async () => {
    const path = await requestReset((await newUser()).email)
    app.advance(3_599)
    expect((await new Visitor().request(path)).status).toBe(200)
    app.advance(1)
    expect((await new Visitor().request(path)).status).toBe(400)
  })

  test.each([
    ['a new password', (id: number) => app.server.users.setPassword(id, 'another password')],
    ['a deactivation', (id: number) => app.server.users.setActive(id, false)],
    ['the deletion of the user', (id: number) => app.server.users.delete(id)],
  ])('a link becomes invalid with %s', async (_, change) => {
    const user = await newUser()
    const path = await requestReset(user.email)
    const visitor = new Visitor()
    const form = (await visitor.request(path)).form(open)
    await change(Number(user.id))
    expect((await new Visitor().request(path)).status).toBe(400)
    expect((await visitor.post(open, { ...form.fields, new_password: next })).status).toBe(400)
    expect(await canLogIn(user.email, next)).toBe(false)
  })

  test.each([
    ['no token', ''],
    ['an unknown token', `?token=${'a'.repeat(43)}`],
    ['two tokens', `?token=${'a'.repeat(43)}&token=${'b'.repeat(43)}`],
    ['a huge token', `?token=${'a'.repeat(7_000)}`],
  ])('rejects a link with %s', async (_, search) => {
    const page = await new Visitor().request(open + search)
    expect([page.status, page.text]).toEqual([400, expect.stringContaining(en.problem.linkInvalid)])
  })

  test.each([
    '',
    'not an address',
    'a@b@c',
    '<script>@example.org',
    `${'x'.repeat(300)}@example.org`,
  ])('rejects %j as an e-mail address', async (email) => {
    const page = await new Visitor().fill(forgot, { email })
    expect([page.status, page.wrong('email')]).toEqual([400, en.problems.emailInvalid])
    expect(sent).toEqual([])
  })

  test('sends at most five links to an address within ten minutes', async () => {
    const { email } = await newUser()
    for (let count = 0; count < 5; count += 1)
      expect((await new Visitor().fill(forgot, { email })).status).toBe(200)
    const page = await new Visitor().fill(forgot, { email })
    expect([page.status, page.alert]).toEqual([429, en.userLinks.tooMany])
    expect(Number(page.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(sent).toHaveLength(5)
    app.advance(600)
    expect((await new Visitor().fill(forgot, { email })).status).toBe(200)
  })

  test('lets an IP address request at most 30 links within ten minutes', async () => {
    const visitor = new Visitor()
    const { fields } = (await visitor.request(forgot)).form(forgot)
    const statuses = []
    for (let count = 0; count < 31; count += 1)
      statuses.push(
        (await visitor.post(forgot, { ...fields, email: `n${count}@example.org` })).status,
      )
    expect(statuses).toEqual([...Array.from({ length: 30 }, () => 200), 429])
  })

  test('gives a first password to a user who has none', async () => {
    const email = 'invited@example.org'
    await app.server.users.create({ email, password: null })
    const path = await requestReset(email)
    expect((await new Visitor().fill(path, { new_password: next })).status).toBe(303)
    expect(await canLogIn(email, next)).toBe(true)
  })
})

describe('a sign-up', () => {
  test('creates a user with a verified address', async () => {
    const email = 'ada@example.org'
    expect((await new Visitor().request('/login')).html).toContain(`href="${signUp}?next=%2F"`)
    await new Visitor().fill(signUp, { email: 'Ada@Example.org' })
    const path = await linkSent()
    expect(sent).toMatchObject([{ purpose: 'sign_up', email }])
    expect(await app.server.users.findByEmail(email)).toBeUndefined()
    const response = await new Visitor().fill(path, { new_password: next })
    expect((await new Visitor().request(`${response.location}`)).done).toBe(
      en.userLinks.sign_up.done,
    )
    const user = await app.server.users.findByEmail(email)
    expect(user).toMatchObject({ emailVerified: true, active: true, isAdmin: false })
    expect(await canLogIn(email, next)).toBe(true)
    const { items } = await app.server.activity.listByUser(user?.id ?? 0, {
      after: null,
      limit: 10,
    })
    expect(items.find(({ event }) => event === 'user.created')).toMatchObject({
      actorId: String(user?.id),
    })
  })

  test('with the address of a user sends this user a link to reset the password', async () => {
    const { email } = await newUser()
    const page = await new Visitor().fill(signUp, { email })
    expect(page.text).toContain(en.userLinks.sent(email))
    await linkSent()
    expect(sent).toMatchObject([{ purpose: 'reset_password', email }])
  })

  test('creates one user from two links to one address', async () => {
    const email = 'twice@example.org'
    await new Visitor().fill(signUp, { email })
    await new Visitor().fill(signUp, { email })
    await vi.waitFor(() => expect(sent).toHaveLength(2))
    const pages = await Promise.all(
      sent.map(({ url }) => {
        const { pathname, search } = new URL(url)
        return new Visitor().fill(pathname + search, { new_password: next })
      }),
    )
    expect(pages.map(({ status }) => status).sort()).toEqual([303, 400])
    for (const { url } of sent)
      expect((await new Visitor().request(url.replace(app.issuer, ''))).status).toBe(400)
  })

  test('has no page without the setting signUp', async () => {
    await using closed = await startServer({ sendUserLink: () => undefined })
    const visitor = new Visitor(closed)
    expect((await visitor.request('/login')).html).not.toContain(signUp)
    expect((await visitor.request(signUp)).status).toBe(404)
    expect((await visitor.request(forgot)).status).toBe(200)
  })
})

describe('the verification of an e-mail address', () => {
  test('is offered on the sessions page until the user opens the link', async () => {
    const user = await newUser({ emailVerified: false })
    const person = await Person.logIn(app, { user })
    const page = await person.get(at.sessions)
    const response = await person.send(page.form(verify))
    expect((await person.follow(response)).done).toBe(en.done.linkSent(user.email))
    const path = await linkSent()
    expect(sent).toMatchObject([{ purpose: 'verify_email', email: user.email }])
    const confirmed = await new Visitor().fill(path, {})
    expect((await new Visitor().request(`${confirmed.location}`)).done).toBe(
      en.userLinks.verify_email.done,
    )
    expect((await app.server.users.find(user.id))?.emailVerified).toBe(true)
    expect((await person.get(at.sessions)).html).not.toContain(verify)
    const { items } = await app.server.activity.listByUser(user.id, { after: null, limit: 10 })
    expect(items.map(({ event }) => event)).toContain('user.email_verified')
    // The password is unchanged, and the session continues.
    expect(await canLogIn(user.email, app.password)).toBe(true)
  })

  test('sends nothing if the address is verified', async () => {
    const person = await Person.logIn(app, { user: await newUser() })
    expect((await person.get(at.sessions)).html).not.toContain(verify)
    expect((await person.post(verify)).status).toBe(303)
    expect(sent).toEqual([])
  })

  test('can be requested by a script', async () => {
    const user = await newUser({ emailVerified: false })
    const script = await Script.logIn(app, user)
    expect(await script.post(verify, {})).toMatchObject({ status: 200 })
    await linkSent()
    for (let count = 1; count < 5; count += 1) await script.post(verify, {})
    expect((await script.post(verify, {})).status).toBe(429)
  })

  test('shows too many requests on the sessions page', async () => {
    const person = await Person.logIn(app, { user: await newUser({ emailVerified: false }) })
    for (let count = 0; count < 5; count += 1) await person.post(verify, { form_id: `f${count}` })
    const page = await person.post(verify, { form_id: 'last' })
    expect([page.status, page.alert]).toEqual([429, en.userLinks.tooMany])
  })
})

test('logs a failure of sendUserLink, and returns the usual response', async () => {
  const ways = [
    () => {
      throw new Error('no mail server')
    },
    () => Promise.reject(new Error('no mail server')),
  ]
  for (const sendUserLink of ways) {
    await using broken = await startServer({ sendUserLink })
    const page = await new Visitor(broken).fill(forgot, { email: broken.user.email })
    expect(page.status).toBe(200)
    await vi.waitFor(() =>
      expect(broken.log).toContainEqual(
        expect.objectContaining({ event: 'user_link.failed', purpose: 'reset_password' }),
      ),
    )
    expect(JSON.stringify(broken.log)).not.toContain('token=')
  }
})

describe('the start', () => {
  const sendUserLink = () => undefined

  test.each([
    [
      'sendUserLink with users of the application',
      { sendUserLink, users: { find: async () => undefined } },
    ],
    [
      'sendUserLink with a login of the application',
      { sendUserLink, resourceOwner: () => null, loginUrl: '/in' },
    ],
    ['signUp without sendUserLink', { signUp: true }],
  ])('refuses %s', async (_, options) => {
    await expect(createTestServer(options)).rejects.toThrow(/sendUserLink/)
  })

  test('offers no links without sendUserLink', async () => {
    await using plain = await startServer()
    const visitor = new Visitor(plain)
    expect((await visitor.request('/login')).html).not.toContain(forgot)
    for (const path of [forgot, signUp, open, verify])
      expect((await visitor.request(path)).status).toBe(404)
  })
})
