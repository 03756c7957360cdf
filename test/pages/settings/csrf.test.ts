import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { at, Person } from './support.ts'

const { problems } = en

let app: TestServer
let person: Person
beforeAll(async () => {
  app = await startServer()
  person = await Person.logIn(app)
})
afterAll(() => app.close())

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
