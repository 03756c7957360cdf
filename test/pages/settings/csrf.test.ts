import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { authorizationOf } from '../../support/tokens.ts'
import { written } from '../api/script.ts'
import { at, body, type Fields, type Form, type Page, Person } from './support.ts'

const { problems, problem } = en

let app: TestServer
let person: Person
let other: Person
let admin: Person
let clientId: string
let tokenId: number
let deviceId: number
beforeAll(async () => {
  app = await startServer()
  person = await Person.logIn(app)
  other = await Person.logIn(app)
  admin = await Person.stranger(app, { isAdmin: true })
  clientId = (await app.client({ name: 'Printer' })).clientId
  tokenId = (await app.server.tokens.createPersonal('Laptop', app.user.id)).id
  deviceId = (await authorizationOf(app, clientId)).token.id
})
afterAll(() => app.close())

interface Case {
  readonly path: () => string
  readonly typed: Fields
  /** Finds the form with the typed values on the error page. Undefined if the error page does not contain the form. */
  readonly again?: (page: Page) => Form
  readonly who?: () => Person
}

const cases: Record<string, Case> = {
  'register a client': {
    path: () => at.newClient,
    typed: {
      name: 'Typed',
      description: 'Typed, too',
      website: 'https://typed.example',
      redirect_uris: 'https://typed.example/cb\r\nnonsense',
      is_confidential: 'false',
      default_scopes: ['notes:read', 'user:email'],
      optional_scopes: ['notes:read'],
    },
    again: (page) => page.form(at.newClient),
  },
  'edit a client': {
    path: () => at.client(clientId),
    typed: { name: 'Typed', website: 'x', redirect_uris: 'y', default_scopes: ['notes:write'] },
    again: (page) => page.form(at.client(clientId), 'name'),
  },
  'delete a client': {
    path: () => at.client(clientId),
    typed: { delete: 'yes', confirm_name: 'Printer' },
  },
  'reset a secret': { path: () => at.reset(clientId), typed: { overlap: '3600' } },
  'create a token': {
    path: () => at.newToken,
    typed: { name: 'Typed', scopes: ['notes:read', 'user:email'], expires: '2027-01-31' },
    again: (page) => page.form(at.newToken),
  },
  'edit a token': {
    path: () => at.token(tokenId),
    typed: { name: 'Typed', scopes: ['notes:write'] },
    again: (page) => page.form(at.token(tokenId), 'name'),
  },
  'delete a token': { path: () => at.token(tokenId), typed: { delete: 'yes' } },
  'rotate a token': { path: () => at.rotate(tokenId), typed: { overlap: '3600' } },
  'revoke a device': { path: () => at.revoke(deviceId), typed: {} },
  'revoke an application': { path: () => at.revokeApplication(clientId), typed: {} },
  'revoke all': { path: () => at.revokeAll, typed: {} },
  'end other sessions': { path: () => at.sessions, typed: { others: 'yes' } },
  administer: {
    path: () => at.admin,
    typed: { client_id: 'x', act: 'verify' },
    who: () => admin,
  },
  'administer an application': {
    path: () => at.adminApplication(clientId),
    typed: { act: 'verify' },
    who: () => admin,
  },
  'administer a token': {
    path: () => at.adminTokens,
    typed: { token_id: '1', act: 'delete' },
    who: () => admin,
  },
}

type Sent = (person: Person, path: string, typed: Fields) => Promise<Page>

const tokens: readonly (readonly [string, Sent])[] = [
  ['that is missing', (who, path, typed) => who.postRaw(path, typed)],
  ['that is empty', (who, path, typed) => who.post(path, { ...typed, csrf_token: '' })],
  [
    'that the server did not issue',
    (who, path, typed) => who.post(path, { ...typed, csrf_token: 'x'.repeat(43) }),
  ],
  [
    'of another session',
    (who, path, typed) => who.post(path, { ...typed, csrf_token: other.session.csrfToken }),
  ],
  [
    'that is repeated',
    (who, path, typed) => {
      const { csrfToken } = who.session
      return who.post(path, { ...typed, csrf_token: [csrfToken, csrfToken] })
    },
  ],
  [
    'that is repeated with a wrong value',
    (who, path, typed) => who.post(path, { ...typed, csrf_token: [who.session.csrfToken, 'x'] }),
  ],
  [
    'with an appended character',
    (who, path, typed) => who.post(path, { ...typed, csrf_token: `${who.session.csrfToken}\n` }),
  ],
  [
    'in the query only',
    (who, path, typed) => who.postRaw(`${path}?csrf_token=${who.session.csrfToken}`, typed),
  ],
  [
    'in a header only',
    (who, path, typed) => who.postRaw(path, typed, { 'x-csrf-token': who.session.csrfToken }),
  ],
  [
    'that is the JWT of the session',
    (who, path, typed) => who.post(path, { ...typed, csrf_token: who.session.jwt }),
  ],
]

describe.each(Object.entries(cases))('%s', (_name, { path, typed, again, who = () => person }) => {
  test.each(tokens)(
    'with a CSRF token %s, returns 403 with an error text and the typed values, and changes nothing',
    async (_, send) => {
      const before = written(app)
      const page = await send(who(), path(), typed)
      expect(page.status).toBe(403)
      expect(page.location).toBeNull()
      expect(page.alert).toBe(problems.stale)
      expect(written(app)).toEqual(before)
      if (again) {
        const { csrf_token, form_id, ...fields } = again(page).fields
        expect(csrf_token).toEqual([who().session.csrfToken])
        expect(form_id).toHaveLength(1)
        for (const [name, value = []] of Object.entries(typed))
          expect([name, fields[name]]).toEqual([name, [value].flat()])
      } else {
        const forms = page.forms.map(({ fields }) => fields.csrf_token)
        expect(new Set(forms.flat())).toEqual(new Set([who().session.csrfToken]))
      }
    },
  )

  test('without a valid session, redirects to the login, and changes nothing', async () => {
    const gone = await Person.logIn(app, { user: who().user })
    await gone.post('/logout')
    const before = written(app)
    expect((await gone.post(path(), typed)).location).toMatch(/^\/login\?next=/)
    expect(written(app)).toEqual(before)
  })

  test.each<[string, Record<string, string>]>([
    ['a site with another Origin', { origin: 'https://evil.example' }],
    ['a site with another port', { origin: 'http://localhost:1' }],
    ['a site with another scheme', { origin: 'https://localhost' }],
    ['another site (Sec-Fetch-Site: cross-site)', { 'sec-fetch-site': 'cross-site' }],
    [
      'another origin of the same site (Sec-Fetch-Site: same-site)',
      { 'sec-fetch-site': 'same-site' },
    ],
    [
      'another site that sends the Origin of the server',
      { 'sec-fetch-site': 'cross-site', origin: 'OURS' },
    ],
  ])(
    'from %s, returns 403 even with a valid CSRF token, and changes nothing',
    async (_, headers) => {
      const before = written(app)
      const given = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          value === 'OURS' ? new URL(app.issuer).origin : value,
        ]),
      )
      const page = await who().post(path(), typed, given)
      expect(page.status).toBe(403)
      expect(page.text).toContain(problem.foreign)
      expect(page.headers.get('set-cookie')).toBeNull()
      expect(written(app)).toEqual(before)
    },
  )

  test.each<[string, string | Uint8Array<ArrayBuffer>, string | undefined]>([
    ['JSON', '{"name":"x"}', 'application/json'],
    ['JSON with the type text/plain', '{"name":"x"}', 'text/plain'],
    ['a form with the type text/plain', 'name=x', 'text/plain'],
    ['a form in another charset', 'name=%FC', 'application/x-www-form-urlencoded; charset=latin1'],
    ['content without a type', new Uint8Array([120]), undefined],
  ])(
    'with %s as the body, returns 400 with a page, and changes nothing',
    async (_, content, type) => {
      const before = written(app)
      const page = await who().request(path(), {
        method: 'POST',
        body: content,
        headers: type === undefined ? {} : { 'content-type': type },
      })
      expect(page.status).toBe(400)
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(written(app)).toEqual(before)
    },
  )

  test('with a multipart body, returns 400, and changes nothing', async () => {
    const form = new FormData()
    for (const [name, value] of body({ ...typed, csrf_token: who().session.csrfToken }))
      form.append(name, value)
    const before = written(app)
    expect((await who().request(path(), { method: 'POST', body: form })).status).toBe(400)
    expect(written(app)).toEqual(before)
  })
})

test.each<[string, Record<string, string>]>([
  ['the Origin of the server', {}],
  ['Origin null, which browsers send with the policy no-referrer', { origin: 'null' }],
  ['Sec-Fetch-Site same-origin', { 'sec-fetch-site': 'same-origin', origin: 'null' }],
  ['Sec-Fetch-Site none', { 'sec-fetch-site': 'none' }],
])('decision §6.3 a form with a valid CSRF token and %s succeeds', async (_, headers) => {
  const given = Object.keys(headers).length > 0 ? headers : { origin: new URL(app.issuer).origin }
  const sent = await person.post(at.newClient, { name: 'Ours' }, given)
  expect(sent.status).toBe(303)
})

test('the returned form with a new CSRF token can be sent again', async () => {
  const typed = { name: 'Second try', redirect_uris: 'https://a.example', is_confidential: 'false' }
  const page = await person.postRaw(at.newClient, typed)
  const sent = await person.send(page.form(at.newClient))
  expect(sent.status).toBe(303)
  const shown = await person.follow(sent)
  expect(shown.form(sent.location ?? '', 'name').fields).toMatchObject({
    name: ['Second try'],
    redirect_uris: ['https://a.example'],
    is_confidential: ['false'],
  })
})

test('the returned form contains the typed values, escaped', async () => {
  const name = '"><script>alert(1)</script>'
  const page = await person.postRaw(at.newClient, { name, redirect_uris: '</textarea><b>' })
  expect(page.form(at.newClient).fields).toMatchObject({
    name: [name],
    redirect_uris: ['</textarea><b>'],
  })
  expect(page.html).not.toMatch(/<script>|<b>/)
})

test('a login invalidates the forms of the previous session in the same browser', async () => {
  const reader = await Person.stranger(app)
  const form = (await reader.get(at.newToken)).form(at.newToken)
  const login = await reader.session.agent.browse(`${app.issuer}/login?prompt=login`)
  await reader.session.agent.submit(login, { email: reader.user.email, password: app.password })
  const page = await reader.send(form, { name: 'Typed before' })
  expect([page.status, page.alert]).toEqual([403, problems.stale])
  expect((await reader.send(page.form(at.newToken))).status).toBe(303)
})
