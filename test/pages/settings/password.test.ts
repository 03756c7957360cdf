import { createTestServer } from 'svc-oauth2server/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { query } from '../../support/database.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { logIn } from '../../support/session.ts'
import { en } from '../../support/texts.ts'
import { Script } from '../api/script.ts'
import { at, Person } from './support.ts'

let app: TestServer
beforeAll(async () => {
  app = await startServer()
})
afterAll(() => app.close())

const next = 'a new and better password'

let users = 0
const newPerson = async (): Promise<Person> => {
  // The wrong passwords of earlier tests no longer count.
  app.advance(3_600)
  users += 1
  return Person.logIn(app, { user: await app.newUser({ email: `user-${users}@example.org` }) })
}

const change = async (person: Person, fields: Record<string, string>) => {
  const form = (await person.get(at.password)).form(at.password)
  return person.send(form, { current_password: app.password, new_password: next, ...fields })
}

const isIn = async (person: Person): Promise<boolean> =>
  (await person.get(at.sessions)).status === 200

const hashOf = ({ user }: Person): unknown =>
  query(app.database, 'select password_hash from oauth2server_user where id = ?', Number(user.id))

const canLogIn = ({ user }: Person, password: string): Promise<boolean> =>
  logIn({ issuer: app.issuer, user, password }).then(
    () => true,
    () => false,
  )

describe('the password page', () => {
  test('is linked from the sessions page, and has a form for the current and the new password', async () => {
    const person = await newPerson()
    expect((await person.get(at.sessions)).html).toContain(`href="${at.password}"`)
    const page = await person.get(at.password)
    expect(page.title).toContain(en.password.title)
    expect(page.html).toMatch(/name="current_password"[^>]* autocomplete="current-password"/)
    expect(page.html).toMatch(/name="new_password"[^>]* autocomplete="new-password" minlength="8"/)
  })

  test('changes the password, and logs out all other browsers of the user', async () => {
    const person = await newPerson()
    const other = await Person.logIn(app, { user: person.user })
    const { accessToken } = await app.server.tokens.createPersonal('Laptop', person.user.id)
    const response = await change(person, {})
    expect(response.status).toBe(303)
    expect((await person.follow(response)).done).toBe(en.done.passwordChanged)
    expect([await isIn(person), await isIn(other)]).toEqual([true, false])
    expect([await canLogIn(person, app.password), await canLogIn(person, next)]).toEqual([
      false,
      true,
    ])
    expect(await app.server.getToken({ accessToken })).toBeDefined()
    const { items } = await app.server.activity.listByUser(person.user.id, {
      after: null,
      limit: 10,
    })
    expect(items.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['user.password_changed', 'session.ended']),
    )
  })

  test.each([
    [
      'a wrong current password',
      { current_password: 'wrong password' },
      'current_password',
      en.problems.passwordWrong,
    ],
    [
      'no current password',
      { current_password: '' },
      'current_password',
      en.problems.passwordWrong,
    ],
    [
      'a huge current password',
      { current_password: 'x'.repeat(5_000) },
      'current_password',
      en.problems.passwordWrong,
    ],
    [
      'a short new password',
      { new_password: 'seven77' },
      'new_password',
      en.problems.passwordTooShort(8),
    ],
    ['no new password', { new_password: '' }, 'new_password', en.problems.passwordTooShort(8)],
    [
      'a huge new password',
      { new_password: 'x'.repeat(1_025) },
      'new_password',
      en.problems.passwordTooLong,
    ],
  ])('rejects %s, and changes nothing', async (_, fields, field, sentence) => {
    const person = await newPerson()
    const other = await Person.logIn(app, { user: person.user })
    const before = hashOf(person)
    const page = await change(person, fields)
    expect(page.status).toBe(400)
    expect(page.wrong(field)).toBe(sentence)
    // The page does not return a password that was sent.
    expect(page.html).not.toContain(app.password)
    expect(page.html).not.toContain(next)
    expect(hashOf(person)).toEqual(before)
    expect(await isIn(other)).toBe(true)
  })

  test('counts wrong current passwords together with wrong logins, and then returns 429', async () => {
    const person = await newPerson()
    let status = 0
    for (let tried = 0; tried < 20 && status !== 429; tried += 1) {
      const page = await change(person, { current_password: `wrong ${tried}` })
      status = page.status
      if (status !== 429) continue
      expect(page.alert).toBe(en.login.tooMany)
      expect(Number(page.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect(status).toBe(429)
    // The right password is refused too, as on the login page.
    expect((await change(person, {})).status).toBe(429)
    expect(await canLogIn(person, next)).toBe(false)
  })

  test('changes the password once if two different new passwords are sent concurrently', async () => {
    const person = await newPerson()
    const candidates = ['the first new password', 'the second new password']
    const pages = await Promise.all(
      candidates.map((new_password) => change(person, { new_password })),
    )
    expect(pages.map(({ status }) => status).sort()).toEqual([303, 400])
    const accepted = candidates[pages.findIndex(({ status }) => status === 303)]
    expect(await canLogIn(person, `${accepted}`)).toBe(true)
  })

  test('redirects a visitor who is not logged in to the login', async () => {
    const response = await fetch(new URL(at.password, app.issuer), { redirect: 'manual' })
    expect(response.status).toBe(303)
    expect(response.headers.get('location')).toContain('/login?next=')
  })
})

describe('a script', () => {
  test('reads the minimum length, and changes the password', async () => {
    const person = await newPerson()
    const script = await Script.logIn(app, person.user)
    expect(await script.get(at.password)).toMatchObject({ status: 200, body: { min_length: 8 } })
    const sent = { current_password: 'wrong', new_password: next }
    expect(await script.post(at.password, sent)).toMatchObject({
      status: 400,
      body: { field: 'current_password' },
    })
    const right = { ...sent, current_password: app.password }
    expect((await script.post(at.password, right)).status).toBe(200)
    expect(await canLogIn(person, next)).toBe(true)
    expect(await isIn(person)).toBe(false)
  })
})

test('there is no password page if the application manages the passwords or the login', async () => {
  const users = {
    find: async () => undefined,
    withPassword: async () => undefined,
  }
  for (const options of [{ users }, { resourceOwner: () => null, loginUrl: '/enter' }]) {
    const host = await createTestServer(options)
    const response = await host.fetch(new Request(new URL(at.password, host.issuer)))
    expect(response.status).toBe(404)
    await host.close()
  }
})
