import { describe, expect, test } from 'vitest'
import { accountEndpoints } from '../../src/account/built-in.ts'
import { passwordPage } from '../../src/account/password.ts'
import { sessionsPage } from '../../src/account/sessions.ts'
import type { Settings } from '../../src/settings/settings.ts'
import { at, Person } from '../pages/settings/support.ts'
import { basicOf, postForm } from '../support/form.ts'
import { startServer } from '../support/server.ts'
import { logIn } from '../support/session.ts'
import { ping, TestClient, UserAgent } from '../support/user-agent.ts'

const field = { name: 'App', redirect_uris: 'https://client.example/cb' }

describe('clientsPerUser', () => {
  test('returns an error at the maximum, and allows another client after a deletion', async () => {
    await using app = await startServer({ clientsPerUser: 2 })
    const somebody = await Person.logIn(app)
    const create = () => somebody.post(at.newClient, { ...field, form_id: `${Math.random()}` })
    expect([(await create()).status, (await create()).status]).toEqual([303, 303])
    const refused = await create()
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('You can register at most 2 applications.')
    const clients = await app.server.clients.ofOwner(app.user.id, { after: null, limit: 9 })
    expect(clients.items).toHaveLength(2)
    await app.server.clients.delete(clients.items[0]?.client.clientId ?? '')
    expect((await create()).status).toBe(303)
    // The limit does not apply to another user, or to the operator.
    const stranger = await Person.stranger(app)
    expect((await stranger.post(at.newClient, { ...field, form_id: 'x' })).status).toBe(303)
    await app.client()
  })

  test('returns the error as JSON to a script', async () => {
    await using app = await startServer({ clientsPerUser: 0 })
    const { session } = await Person.logIn(app)
    const response = await session.agent.fetch(`${app.issuer}${at.newClient}`, {
      method: 'POST',
      body: JSON.stringify(field),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        authorization: `Bearer ${session.jwt}`,
      },
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: 'invalid_request', field: 'user_id' })
  })

  test('applies the maximum to concurrent requests', async () => {
    await using app = await startServer({ clientsPerUser: 3 })
    const somebody = await Person.logIn(app)
    const pages = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        somebody.post(at.newClient, { ...field, name: `App ${index}`, form_id: `${index}` }),
      ),
    )
    expect(pages.filter(({ status }) => status === 303)).toHaveLength(3)
    expect(pages.filter(({ status }) => status === 400)).toHaveLength(9)
  })
})

describe('the limit changes', () => {
  const limits = { changes: { points: 4, seconds: 600 } }

  test('refuses further forms of a user, whose repeated changes would fill the audit log, but not those of another user [T4665]', async () => {
    await using app = await startServer({ limits })
    const somebody = await Person.logIn(app)
    const { id } = await app.server.tokens.createPersonal('First', app.user.id)
    const events = async () =>
      (await app.query("select 1 from oauth2server_audit where event = 'personal_token.edited'"))
        .length
    const rename = (name: string) => somebody.post(at.token(id), { name })
    const statuses = []
    for (const name of ['B', 'C', 'D', 'E', 'F', 'G']) statuses.push((await rename(name)).status)
    expect(statuses).toEqual([303, 303, 303, 303, 429, 429])
    const refused = await rename('Third')
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(refused.text).toContain('There were too many requests. Nothing was done.')
    expect(await events()).toBe(4)
    const stranger = await Person.stranger(app)
    expect((await stranger.post(at.newClient, { ...field, form_id: 'x' })).status).toBe(303)
    app.advance(600)
    expect((await rename('Third')).status).toBe(303)
    expect(await events()).toBe(5)
  })

  test('counts the requests of every settings page that changes something [T4666]', async () => {
    await using app = await startServer({ limits })
    await app.server.users.setAdmin(app.user.id, true)
    const { session } = await Person.logIn(app)
    const post = (path: string) =>
      session.agent.fetch(`${app.issuer}${path}`, {
        method: 'POST',
        body: '{}',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          authorization: `Bearer ${session.jwt}`,
        },
      })
    const prefixes = { settingsPrefix: '/account/settings', adminPrefix: '/admin' } as Settings
    const paths = [...accountEndpoints, sessionsPage, passwordPage]
      .filter(({ methods }) => methods.includes('POST'))
      .map(({ path }) => path(prefixes).replaceAll(/:\w+/g, '1'))
    expect(paths.length).toBeGreaterThan(15)
    for (let sent = 0; sent < limits.changes.points; sent += 1) await post(at.undo)
    const answers = []
    for (const path of paths) answers.push([path, (await post(path)).status])
    expect(answers).toEqual(paths.map((path) => [path, 429]))
  })
})

describe('personalTokensPerUser', () => {
  test('displays an error at the maximum, without counting internal tokens or limiting other types of tokens', async () => {
    await using app = await startServer({ personalTokensPerUser: 2 })
    const somebody = await Person.logIn(app)
    await app.server.tokens.createPersonal('Internal', app.user.id, { isInternal: true })
    const create = (name: string) => somebody.post(at.newToken, { name, form_id: name })
    expect([(await create('a')).status, (await create('b')).status]).toEqual([303, 303])
    const refused = await create('c')
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('You can have at most 2 personal tokens.')
    await app.personalToken()
    const { items } = await app.server.personalTokens.listByUser(app.user.id, {
      after: null,
      limit: 9,
    })
    expect(items).toHaveLength(3)
  })

  test('does not count a former value that is still valid', async () => {
    await using app = await startServer({ personalTokensPerUser: 2 })
    const somebody = await Person.logIn(app)
    const { id } = await app.server.tokens.createPersonal('Old', app.user.id)
    await app.server.personalTokens.rotate(id, { overlap: 3_600 })
    expect((await somebody.post(at.newToken, { name: 'b', form_id: 'b' })).status).toBe(303)
    expect((await somebody.post(at.newToken, { name: 'c', form_id: 'c' })).status).toBe(400)
  })

  test('applies the maximum to concurrent requests', async () => {
    await using app = await startServer({ personalTokensPerUser: 3 })
    const somebody = await Person.logIn(app)
    const pages = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        somebody.post(at.newToken, { name: `Token ${index}`, form_id: `${index}` }),
      ),
    )
    expect(pages.filter(({ status }) => status === 303)).toHaveLength(3)
  })
})

describe('sessionsPerUser', () => {
  test('deletes the oldest session when a login exceeds the maximum', async () => {
    await using app = await startServer({ sessionsPerUser: 2 })
    const people: Person[] = []
    for (let browser = 0; browser < 3; browser += 1) {
      people.push(await Person.logIn(app))
      app.advance(1)
    }
    const stranger = await Person.stranger(app)
    const isIn = async (person: Person) => (await person.get('/')).html.includes(person.user.email)
    expect(await Promise.all([...people, stranger].map(isIn))).toEqual([false, true, true, true])
    expect(await app.query('select id from oauth2server_session')).toHaveLength(3)
  })

  test('replaces the session of a browser that logs in again', async () => {
    await using app = await startServer({ sessionsPerUser: 2 })
    const first = await Person.logIn(app)
    const { agent } = await logIn(app)
    for (let times = 0; times < 3; times += 1) {
      app.advance(1)
      const page = await agent.browse(`${app.issuer}/login?prompt=login`)
      const { user, password } = app
      expect((await agent.submit(page, { email: user.email, password })).status).toBe(303)
    }
    expect((await first.get('/')).html).toContain(app.user.email)
  })

  test('does not delete the newest session, also with concurrent logins', async () => {
    await using app = await startServer({ sessionsPerUser: 1 })
    await logIn(app)
    const last = await Person.logIn(app)
    expect((await last.get('/')).html).toContain(app.user.email)
    await Promise.all(Array.from({ length: 5 }, () => logIn(app)))
    expect(await app.query('select id from oauth2server_session')).toHaveLength(1)
  })
})

describe('authorizationsPerApplication', () => {
  test('revokes the oldest authorization of this application and user when another exceeds the maximum', async () => {
    await using app = await startServer({ authorizationsPerApplication: 2 })
    const agent = new UserAgent()
    const client = await TestClient.register(app, agent)
    const another = await TestClient.register(app, agent)
    const tokenOf = async (of: TestClient) =>
      String(
        (await of.redeem(await of.code(), { code_verifier: of.pkce.verifier })).body.access_token,
      )
    const tokens = [await tokenOf(another)]
    for (let device = 0; device < 3; device += 1) tokens.push(await tokenOf(client))
    const statuses = await Promise.all(tokens.map((token) => ping(app, token)))
    expect(statuses).toEqual([200, 401, 200, 200])
  })

  test('limits the stored logins with OpenID Connect, all of which a logout ends [T4407]', async () => {
    await using app = await startServer({ authorizationsPerApplication: 2, openidConnect: true })
    const agent = new UserAgent()
    const client = await TestClient.register(app, agent)
    for (let login = 0; login < 5; login += 1) await client.tokens({ scope: 'openid' })
    const rows = await app.query('select authorization_id from oauth2server_client_login')
    const live = 'select id from oauth2server_authorization where revoked_at is null order by id'
    expect(rows.map((row) => row.authorization_id)).toEqual(
      (await app.query(live)).map(({ id }) => id),
    )
    expect(rows).toHaveLength(2)
  })

  test('also applies to the password grant', async () => {
    await using app = await startServer({
      authorizationsPerApplication: 1,
      allowedGrantTypes: ['password'],
    })
    const client = await app.client()
    const fields = { grant_type: 'password', username: app.user.email, password: app.password }
    const tokens = []
    for (let device = 0; device < 2; device += 1) {
      const { body } = await postForm(`${app.issuer}/oauth/token`, fields, basicOf(client))
      tokens.push(await ping(app, String(body.access_token)), body.access_token)
    }
    expect(tokens[0]).toBe(200)
    expect(await ping(app, String(tokens[1]))).toBe(401)
    expect(await ping(app, String(tokens[3]))).toBe(200)
    const grant = () => postForm(`${app.issuer}/oauth/token`, fields, basicOf(client))
    const responses = await Promise.all(Array.from({ length: 5 }, grant))
    expect(responses.map(({ status }) => status)).toEqual(Array(5).fill(200))
    const live = 'select id from oauth2server_authorization where revoked_at is null'
    expect(await app.query(live)).toHaveLength(1)
  })
})
