import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { clientOf } from '../../support/tokens.ts'
import { applications, Script } from '../api/script.ts'
import { at, type Fields, Person } from './support.ts'

// The URIs of the logout of OpenID Connect, in the form and in the JSON of a client.

const { problems } = en
const uris = ['https://photos.example/bye', 'http://localhost:3001/', 'com.example.photos:/bye']
const hook = 'https://photos.example/ended'
const full: Fields = { post_logout_redirect_uris: uris.join('\r\n'), backchannel_logout_uri: hook }
const stored = { post_logout_redirect_uris: uris, backchannel_logout_uri: hook }

let app: TestServer
let person: Person
beforeAll(async () => {
  app = await startServer({ openidConnect: true })
  person = await Person.logIn(app)
})
afterAll(() => app.close())

const metadataOf = async (clientId: string): Promise<unknown> =>
  JSON.parse((await clientOf(app, clientId)).metadata)

describe('the form of a client', () => {
  test('registers, shows, changes and removes the URIs, and keeps other metadata [T2722]', async () => {
    const made = await person.fill(at.newClient, { name: 'Photos', ...full })
    expect(made.status).toBe(303)
    const clientId = made.location?.split('/').at(-2) ?? ''
    expect(await metadataOf(clientId)).toEqual(stored)
    await app.server.clients.update(clientId, { openid: { subject_type: 'pairwise' } })

    const path = at.client(clientId)
    const form = (await person.get(path)).form(path, 'name')
    expect(form.fields).toMatchObject({
      post_logout_redirect_uris: [uris.join('\n')],
      backchannel_logout_uri: [hook],
    })
    const changes = { post_logout_redirect_uris: `\n${uris[1]}\n` }
    expect((await person.send(form, changes)).status).toBe(303)
    expect(await metadataOf(clientId)).toEqual({
      post_logout_redirect_uris: [uris[1]],
      backchannel_logout_uri: hook,
      subject_type: 'pairwise',
    })
    const empty = { post_logout_redirect_uris: '', backchannel_logout_uri: '' }
    expect((await person.fill(path, empty)).status).toBe(303)
    expect(await metadataOf(clientId)).toEqual({ subject_type: 'pairwise' })
  })

  test('reports every invalid URI beside its field, returns the typed values, and stores nothing [T2723]', async () => {
    const { clientId } = await app.client({ openid: stored })
    const path = at.client(clientId)
    const typed = 'https://a.example/\r\n\r\nhttp://b.example/\r\nhttps://c.example/#x'
    const page = await person.fill(path, {
      post_logout_redirect_uris: typed,
      backchannel_logout_uri: 'https://127.0.0.1/hook',
      website: 'x',
    })
    expect(page.status).toBe(400)
    const wrong = page.wrong('post_logout_redirect_uris')
    expect(wrong).toContain(en.frame.line({ line: 3, sentence: problems.redirectUriNotHttps }))
    expect(wrong).toContain(en.frame.line({ line: 4, sentence: problems.redirectUriFragment }))
    expect(page.wrong('backchannel_logout_uri')).toContain(problems.logoutUriInvalid)
    expect(page.wrong('website')).toContain(problems.websiteInvalid)
    expect(page.form(path, 'name').fields).toMatchObject({
      post_logout_redirect_uris: [typed],
      backchannel_logout_uri: ['https://127.0.0.1/hook'],
    })
    expect(await metadataOf(clientId)).toEqual(stored)
  })

  test.each<[string, Fields]>([
    [
      '51 URIs',
      {
        post_logout_redirect_uris: Array.from(
          { length: 51 },
          (_, index) => `https://a.example/${index}`,
        ).join('\n'),
      },
    ],
    ['a script', { post_logout_redirect_uris: 'javascript:alert(1)' }],
    ['a user in the URI', { backchannel_logout_uri: 'https://user@photos.example/' }],
    ['a local name', { backchannel_logout_uri: 'https://database/' }],
    ['a port of another service', { backchannel_logout_uri: 'https://photos.example:25/' }],
    ['two values', { backchannel_logout_uri: [hook, hook] }],
    ['a long URI', { backchannel_logout_uri: `https://a.example/${'x'.repeat(2_000)}` }],
  ])('refuses %s [T2724]', async (_, changes) => {
    const { clientId } = await app.client({ openid: stored })
    expect((await person.fill(at.client(clientId), changes)).status).toBe(400)
    expect((await person.fill(at.newClient, { name: 'New', ...changes })).status).toBe(400)
    expect(await metadataOf(clientId)).toEqual(stored)
  })

  test('asks for confirmation before a new URI removes the verification, but not before a URI is removed [T2725]', async () => {
    const { clientId } = await app.client({ openid: stored })
    await app.server.clients.mark(clientId, { isVerified: true })
    const path = at.client(clientId)
    expect((await person.fill(path, { post_logout_redirect_uris: uris[0] ?? '' })).status).toBe(303)
    expect(await clientOf(app, clientId)).toMatchObject({ isVerified: true })
    const asked = await person.fill(path, { post_logout_redirect_uris: 'https://other.example/' })
    expect([asked.status, asked.text]).toEqual([
      200,
      expect.stringContaining(en.client.losses.verification),
    ])
    expect((await person.send(asked.form(path, 'name'), {})).status).toBe(303)
    expect(await clientOf(app, clientId)).toMatchObject({ isVerified: false })
  })

  test('is a conflict if another tab changed the URIs [T2726]', async () => {
    const { clientId } = await app.client({ openid: stored })
    const path = at.client(clientId)
    const [first, second] = [
      (await person.get(path)).form(path, 'name'),
      (await person.get(path)).form(path, 'name'),
    ]
    const changes = { backchannel_logout_uri: 'https://photos.example/other' }
    expect((await person.send(first, changes)).status).toBe(303)
    const page = await person.send(second, { name: 'Other' })
    expect(page.status).toBe(409)
    expect(page.text).toContain(en.client.backchannelLogoutUri)
  })

  test('returns 404 to users who do not own the client, and changes nothing for them [T2727]', async () => {
    const { clientId } = await app.client({ openid: stored })
    const stranger = await Person.stranger(app)
    const change = { name: 'Mine', post_logout_redirect_uris: 'https://evil.example/' }
    expect((await stranger.post(at.client(clientId), change)).status).toBe(404)
    expect(await metadataOf(clientId)).toEqual(stored)
  })
})

describe('the JSON of a client', () => {
  test('accepts and returns the same URIs as the form; an omitted field is not changed [T2728]', async () => {
    const script = await Script.logIn(app)
    const made = await script.post(`${applications}/clients/new/`, { name: 'Photos', ...stored })
    expect([made.status, made.body]).toMatchObject([201, stored])
    const path = `${applications}/clients/${(made.body as { client_id: string }).client_id}/`
    const renamed = await script.post(path, { name: 'Other' })
    expect(renamed.body).toMatchObject({ name: 'Other', ...stored })
    const removed = await script.post(path, {
      post_logout_redirect_uris: [],
      backchannel_logout_uri: '',
    })
    const none = { post_logout_redirect_uris: [], backchannel_logout_uri: '' }
    expect([removed.status, removed.body]).toMatchObject([200, none])
    const wrong = await script.post(path, { backchannel_logout_uri: 'http://photos.example/' })
    expect([wrong.status, wrong.body]).toMatchObject([400, { field: 'backchannel_logout_uri' }])
  })
})

test('a server without OpenID Connect omits the fields for URIs from the form, and ignores them in requests [T2729]', async () => {
  await using other = await startServer()
  const owner = await Person.logIn(other)
  expect((await owner.get(at.newClient)).html).not.toContain('logout_uri')
  const made = await owner.post(at.newClient, { name: 'Photos', ...full })
  const clientId = made.location?.split('/').at(-2) ?? ''
  expect((await clientOf(other, clientId)).metadata).toBe('{}')
  expect((await owner.get(at.client(clientId))).html).not.toContain('logout_uri')
  const script = await Script.logIn(other)
  const { body } = await script.get(`${applications}/clients/${clientId}/`)
  expect(body).not.toHaveProperty('backchannel_logout_uri')
  const document = await (await fetch(`${other.issuer}/openapi.json`)).text()
  expect(document).not.toMatch(/"ClientChange":\{[^}]*post_logout/)
})
