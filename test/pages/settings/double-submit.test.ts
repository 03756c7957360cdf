import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { count } from '../../support/database.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { clientOf, statusOf } from '../../support/tokens.ts'
import { tokenRequest } from '../../support/user-agent.ts'
import { at, type Fields, type Form, idIn, type Page, Person } from './support.ts'

let app: TestServer
let person: Person
beforeAll(async () => {
  app = await startServer()
  person = await Person.logIn(app)
})
afterAll(() => app.close())

const clients = (): number => count(app.database, 'oauth2server_client')
const tokens = (): number => count(app.database, 'oauth2server_token')

const form = async (path: string): Promise<Form> => (await person.get(path)).form(path, 'name')

const times = (number: number, work: () => Promise<Page>): Promise<Page[]> =>
  Promise.all(Array.from({ length: number }, work))

/** Expects that all responses redirect to the same URL, and returns the URL. */
const oneOf = (pages: readonly Page[]): string => {
  expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 303))
  const [first, ...others] = new Set(pages.map(({ location }) => location))
  expect(others).toEqual([])
  return first ?? ''
}

describe.each<[string, string, () => number, Fields]>([
  ['a client', at.newClient, clients, { name: 'Once' }],
  ['a personal token', at.newToken, tokens, { name: 'Once', scopes: 'notes:read' }],
])('the form that makes %s', (_name, path, number, fields) => {
  test('creates one object if it is sent several times concurrently, and all responses redirect to the object', async () => {
    for (const parallel of [2, 8]) {
      const shown = await form(path)
      const before = number()
      const location = oneOf(await times(parallel, () => person.send(shown, fields)))
      expect(number()).toBe(before + 1)
      const secretOf = (page: Page) => page.copied('client-secret') ?? page.copied('access-token')
      expect(secretOf(await person.get(location))).toMatch(/^\w{60}$/)
      expect(secretOf(await person.get(location))).toBeUndefined()
    }
  })

  test('creates one object if it is sent twice in a row, and the second response shows no secret', async () => {
    const shown = await form(path)
    const before = number()
    const first = await person.send(shown, fields)
    await person.follow(first)
    app.advance(120)
    const second = await person.send(shown, fields)
    expect(oneOf([first, second])).toBe(first.location)
    expect(number()).toBe(before + 1)
    const page = await person.follow(second)
    expect([page.status, page.copied('client-secret'), page.copied('access-token')]).toEqual([
      200,
      undefined,
      undefined,
    ])
  })

  test('creates two objects from two forms with equal values', async () => {
    const [one, two] = [await form(path), await form(path)]
    const before = number()
    const pages = await Promise.all([person.send(one, fields), person.send(two, fields)])
    expect(new Set(pages.map(({ location }) => location)).size).toBe(2)
    expect(number()).toBe(before + 2)
  })

  test('creates another object if the user goes back, changes the form, and sends the form again', async () => {
    const shown = await form(path)
    const before = number()
    const first = await person.send(shown, fields)
    const second = await person.send(shown, { ...fields, name: 'Twice' })
    expect(first.location).not.toBe(second.location)
    expect(number()).toBe(before + 2)
  })

  test('creates one object if it is corrected after it was sent twice with an error', async () => {
    const shown = await form(path)
    const before = number()
    const wrong = await times(2, () => person.send(shown, { ...fields, name: '' }))
    expect(wrong.map(({ status }) => status)).toEqual([400, 400])
    expect((await person.send(shown, { ...fields, name: '' })).status).toBe(400)
    expect(number()).toBe(before)
    oneOf(await times(2, () => person.send(shown, fields)))
    expect(number()).toBe(before + 1)
  })

  test('creates one object if it is repeated without form_id within seconds, and another object if it is repeated later', async () => {
    const before = number()
    const send = () => person.post(path, { ...fields, name: 'By hand' })
    const location = oneOf(await times(2, send))
    expect((await send()).location).toBe(location)
    expect(number()).toBe(before + 1)
    app.advance(11)
    expect((await send()).location).not.toBe(location)
    expect(number()).toBe(before + 2)
  })

  test('creates another object if the same form_id is sent in another session or by another user', async () => {
    const [again, other] = [await Person.logIn(app), await Person.stranger(app)]
    const { form_id } = (await form(path)).fields
    const before = number()
    for (const who of [person, again, other])
      expect((await who.post(path, { ...fields, form_id })).status).toBe(303)
    expect(number()).toBe(before + 3)
  })

  test('creates one object if it is sent to two nodes concurrently', async () => {
    await using beside = await startServer({ beside: app, issuer: app.issuer })
    const there = new Person(beside, person.session, person.user)
    const shown = await form(path)
    const before = number()
    const pages = await Promise.all(
      [person, there, person, there].map((who) => who.send(shown, fields)),
    )
    oneOf(pages)
    expect(number()).toBe(before + 1)
  })

  test('accepts any value of form_id', async () => {
    for (const form_id of ['', 'x', 'x'.repeat(1_000), ['a', 'b'], '\u0000', '🦔']) {
      const before = number()
      oneOf(await times(2, () => person.post(path, { ...fields, name: 'Odd', form_id })))
      expect(number()).toBe(before + 1)
    }
  })
})

describe('a form that changes or deletes an object', () => {
  test('resets a secret once after a double click, and the displayed secret is valid', async () => {
    const { clientId } = await app.client()
    const shown = (await person.get(at.client(clientId))).form(at.reset(clientId))
    const pages = await times(3, () => person.send(shown))
    expect(oneOf(pages)).toBe(at.client(clientId))
    const page = await person.get(at.client(clientId))
    const grant = { grant_type: 'client_credentials' }
    const basic = { clientId, clientSecret: page.copied('client-secret') ?? '' }
    expect((await tokenRequest(app.issuer, grant, { basic })).status).toBe(200)
    app.advance(60)
    oneOf([await person.send(shown)])
    expect((await tokenRequest(app.issuer, grant, { basic })).status).toBe(200)
  })

  test('rotates a token once after a double click', async () => {
    const { id, accessToken } = await app.server.tokens.createPersonal('Laptop', app.user.id)
    const shown = (await person.get(at.token(id))).form(at.rotate(id))
    oneOf(await times(3, () => person.send(shown, { overlap: '3600' })))
    const value = (await person.get(at.token(id))).copied('access-token') ?? ''
    expect([await statusOf(app, value), await statusOf(app, accessToken)]).toEqual([200, 200])
  })

  test.each<[string, () => Promise<readonly [path: string, action: string, Fields]>]>([
    [
      'deletes a client',
      async () => {
        const { clientId } = await app.client({ name: 'Gone' })
        return [at.client(clientId), at.client(clientId), { delete: 'yes', confirm_name: 'Gone' }]
      },
    ],
    [
      'deletes a token',
      async () => {
        const { id } = await app.server.tokens.createPersonal('Gone', app.user.id)
        return [at.token(id), at.token(id), { delete: 'yes' }]
      },
    ],
    [
      'revokes an application',
      async () => {
        const { clientId } = await app.client()
        await app.server.consents.grant(app.user.id, clientId, [])
        return [at.list, at.revokeApplication(clientId), {}]
      },
    ],
  ])(
    '%s once after a double click, and both responses redirect to the list',
    async (_, prepare) => {
      const [path, action, fields] = await prepare()
      const page = await person.get(path)
      const shown = page.form(action, 'delete' in fields ? 'delete' : undefined)
      expect(oneOf(await times(2, () => person.send(shown, fields)))).toMatch(
        /\/applications\/(?:tokens\/)?$/,
      )
    },
  )

  test('applies at once if several forms change the same field in quick succession', async () => {
    const { clientId } = await app.client({ name: 'A' })
    for (const name of ['B', 'A', 'B', 'A', 'B']) {
      await person.fill(at.client(clientId), { name })
      expect((await clientOf(app, clientId)).name).toBe(name)
    }
  })
})

test('100 concurrent forms create 100 clients with different secrets', async () => {
  const names = Array.from({ length: 100 }, (_, index) => `Many ${index}`)
  const sent = await Promise.all(names.map((name) => person.post(at.newClient, { name })))
  const ids = sent.map(({ location }) => idIn(location))
  expect(new Set(ids).size).toBe(100)
  const pages = await Promise.all(sent.slice(0, 10).map((page) => person.follow(page)))
  expect(new Set(pages.map((page) => page.copied('client-secret'))).size).toBe(10)
})
