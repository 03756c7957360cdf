import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newKey, redeem, withKey } from '../../support/dpop.ts'
import { isOnNodes, startServer, type TestServer } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { authorizationOf, statusOf } from '../../support/tokens.ts'
import { TestClient } from '../../support/user-agent.ts'
import { Script } from '../api/script.ts'
import { at, type Page, Person } from './support.ts'

const { done, leaked, problems } = en
const { acts } = leaked

let app: TestServer
let admin: Person
let other: Person
let own: Person
beforeAll(async () => {
  app = await startServer({
    tokenPersonalPrefix: 'notes_',
    deviceAuthorization: true,
  })
  admin = await Person.stranger(app, { isAdmin: true })
})
afterAll(() => app.close())
beforeEach(async () => {
  own = await Person.stranger(app)
  other = await Person.stranger(app)
})

/** Pastes a text, and opens the result. */
const paste = async (who: Person, credential: string): Promise<Page> =>
  who.follow(await who.post(at.leaked, { credential }))

/** Sends the form of an action on the page of a result. */
const press = async (who: Person, page: Page, act: string): Promise<Page> => {
  const form = page.forms.find(({ fields }) => fields.act?.[0] === act)
  if (!form) throw new Error(`The page does not offer ${act}.`)
  return who.follow(await who.send(form))
}

const offered = (page: Page): readonly string[] =>
  page.forms.flatMap(({ fields }) => fields.act ?? [])

const personal = (who: Person, name = 'Backup') =>
  app.server.tokens.createPersonal(name, who.user.id, { scopes: ['notes:read'] })

/** Creates an application that the user has allowed. */
const allowed = async (who: Person, owner = other) => {
  const client = await app.client({ name: 'Printer', userId: owner.user.id })
  const pair = await authorizationOf({ ...app, user: who.user } as TestServer, client.clientId)
  return { ...client, ...pair }
}

describe('a pasted credential', () => {
  test('is described with its owner, permissions, last use and history, but without its value [T1300]', async () => {
    const { accessToken } = await personal(own)
    await fetch(`${app.issuer}/api/me`, { headers: { authorization: `Bearer ${accessToken}` } })
    const posted = await own.post(at.leaked, { credential: `  ${accessToken}\n` })
    expect(posted.status).toBe(303)
    expect(posted.location).toMatch(/^\/account\/settings\/leaked\/\?found=\w{43}$/)
    const page = await own.follow(posted)
    expect(page.text).toContain(`${leaked.kinds.personal_token} Backup`)
    expect(page.text).toContain(leaked.valid)
    expect(page.fact(leaked.ending)).toBe(`…${accessToken.slice(-4)}`)
    expect(page.fact(en.admin.user)).toBe(own.user.email)
    // The node that received the request writes the use to the database a little later.
    if (!isOnNodes) expect(page.fact(en.facts.lastUsed)).toContain('127.0.0.1')
    expect(page.fact(en.facts.permissions)).toBe('notes:read')
    expect(page.text).toContain(en.events['personal_token.created'])
    expect(page.html).not.toContain(accessToken)
    expect(`${posted.location}`).not.toContain(accessToken.slice(6, 30))
  })

  test.each<[string, (value: string) => string]>([
    ['alone', (value) => value],
    ['an Authorization header', (value) => `Authorization: Bearer ${value}`],
    ['a DPoP header', (value) => `authorization: DPoP ${value}`],
    [
      'a curl command',
      (value) => `curl -X POST -H 'Authorization: Bearer ${value}' https://a.example/x`,
    ],
    ['a URL', (value) => `https://a.example/x?access_token=${value}&y=1`],
    [
      'a URL in a query',
      (value) => `/go?to=${encodeURIComponent(`https://a.example/?access_token=${value}`)}`,
    ],
    ['JSON', (value) => JSON.stringify({ access_token: value, expires_in: 3600 })],
    ['JSON in JSON', (value) => JSON.stringify({ text: `a\n${value}\n` })],
    ['a variable', (value) => `export TOKEN="${value}"`],
    ['a sentence', (value) => `I committed ${value}. What now?`],
    ['wrapped lines', (value) => `${value.slice(0, 30)}\r\n ${value.slice(30)}`],
    ['invisible characters', (value) => `${value.slice(0, 9)}\u200b${value.slice(9)}\ufeff`],
  ])('is found in %s [T1301]', async (_, text) => {
    const { accessToken } = await personal(own)
    const page = await paste(own, text(accessToken))
    expect(page.text).toContain(`${leaked.kinds.personal_token} Backup`)
  })

  test('is found in a Basic header that contains the current or the former client secret [T1302]', async () => {
    const { clientId, clientSecret } = await app.client({ userId: own.user.id, name: 'Printer' })
    const fresh = await app.server.clients.resetClientSecret(clientId, { overlap: 600 })
    for (const secret of [clientSecret, fresh.clientSecret]) {
      const page = await paste(
        own,
        `curl -H "Authorization: Basic ${btoa(`${clientId}:${secret}`)}"`,
      )
      expect(page.text).toContain(`${leaked.kinds.client_secret} Printer`)
    }
    const after = await press(own, await paste(own, clientSecret), 'end')
    expect(after.done).toBe(done.credentialEnded)
    const client = await app.server.clients.find(clientId)
    expect(client?.checkSecret(clientSecret, app.now())).toBe(false)
    expect(client?.checkSecret(fresh.clientSecret, app.now())).toBe(true)
  })

  test('may be an access token, its refresh token or a rotated refresh token; all are revoked together [T1303]', async () => {
    const client = await TestClient.register(app, own.session.agent, { name: 'Diary' })
    const first = await client.tokens()
    const page = await paste(own, JSON.stringify(first))
    expect(page.html.match(/id="credential-\d"/g)).toHaveLength(1)
    const { access_token } = (await client.refresh(first.refresh_token)).body
    const rotated = await paste(own, first.refresh_token)
    expect(rotated.text).toContain(`${leaked.kinds.refresh_token} Diary`)
    expect(await statusOf(app, access_token)).toBe(200)
    const after = await press(own, rotated, 'end')
    expect(after.done).toBe(done.credentialEnded)
    expect(after.text).toContain(leaked.ended)
    expect(await statusOf(app, access_token)).toBe(401)
  })

  test('may be an authorization code, redeemed or not [T1304]', async () => {
    const client = await TestClient.register(app, own.session.agent, { name: 'Diary' })
    const code = await client.code()
    const page = await paste(own, `https://client.example/cb?code=${code}&state=x`)
    expect(page.text).toContain(`${leaked.kinds.authorization_code} Diary`)
    expect((await press(own, page, 'end')).text).toContain(leaked.ended)
    expect((await client.redeem(code)).status).toBe(400)
    const used = await client.code()
    const { access_token } = (await client.redeem(used)).body
    await press(own, await paste(own, used), 'end')
    expect(await statusOf(app, access_token)).toBe(401)
  })

  test('may be the cookie of a session [T1305]', async () => {
    const elsewhere = await Person.logIn(app, { user: own.user })
    const page = await paste(own, `curl -H 'Cookie: ${elsewhere.session.cookie}' https://x.example`)
    expect(page.text).toContain(leaked.kinds.session)
    await press(own, page, 'end')
    expect((await elsewhere.get(at.list)).status).toBe(303)
    expect((await own.get(at.list)).status).toBe(200)
  })

  test('may be a former value of a personal token; its successor remains valid [T1306]', async () => {
    const { id, accessToken } = await personal(own)
    const fresh = await app.server.personalTokens.rotate(id, { overlap: 600 })
    await press(own, await paste(own, accessToken), 'end')
    expect(await statusOf(app, accessToken)).toBe(401)
    expect(await statusOf(app, fresh.accessToken)).toBe(200)
  })
})

describe('a deleted personal token that could still be restored', () => {
  test('is final after its user, another user or an administrator has looked up its value [T3827]', async () => {
    const { endedTokens } = app.server
    for (const who of [own, other, admin]) {
      const { id, accessToken } = await personal(own)
      const { undo } = await endedTokens.end(own.user.id, [id])
      const page = await who.post(at.leaked, { credential: accessToken })
      if (who !== other) {
        const found = await who.follow(page)
        expect(found.html).toContain('Backup')
        expect(found.html).toContain(leaked.ended)
        expect(offered(found)).not.toContain('end')
      }
      expect(await endedTokens.restore(own.user.id, undo, 100)).toBe(0)
      expect(await statusOf(app, accessToken)).toBe(401)
    }
  })

  test('is final after its value was typed into a search [T3829]', async () => {
    const { id, accessToken } = await personal(own)
    const { undo } = await app.server.endedTokens.end(own.user.id, [id])
    await admin.post(at.adminTokens, { search: 'token', token: accessToken })
    expect(await app.server.endedTokens.restore(own.user.id, undo, 100)).toBe(0)
  })
})

describe('a user', () => {
  test('sees the same page for an unknown value and for a value of another user [T1307]', async () => {
    const theirs = await allowed(other, other)
    const { accessToken } = await personal(other)
    const code = await (await TestClient.register(app, other.session.agent)).code()
    const values = [
      'x'.repeat(43),
      theirs.accessToken,
      theirs.refreshToken,
      theirs.clientSecret,
      accessToken,
      code,
      other.session.cookie,
    ]
    const pages: Page[] = []
    for (const credential of values) pages.push(await own.post(at.leaked, { credential }))
    expect(pages.map(({ status }) => status)).toEqual(values.map(() => 400))
    expect(pages.map((page) => page.wrong('credential'))).toEqual(
      values.map(() => problems.credentialNotYours),
    )
    const masked = pages.map(({ html }) => html.replaceAll(/name="form_id" value="[^"]*"/g, ''))
    expect(new Set(masked).size).toBe(1)
    for (const [index, { html }] of pages.entries()) expect(html).not.toContain(values[index])
  })

  test('cannot use the result of another user, or the own result in another session [T1308]', async () => {
    const { accessToken } = await personal(own)
    const { location } = await own.post(at.leaked, { credential: accessToken })
    const found = location?.split('found=')[1] ?? ''
    const again = await Person.logIn(app, { user: own.user })
    for (const who of [other, admin, again]) {
      const page = await who.get(`${at.leaked}?found=${found}`)
      expect(page.alert).toBe(leaked.stale)
      expect(page.text).not.toContain('Backup')
      await who.post(at.leaked, { found, at: '0', act: 'end' })
    }
    expect(await statusOf(app, accessToken)).toBe(200)
  })

  test('can neither disable an application nor revoke tokens of other users [T1309]', async () => {
    const mine = await allowed(own)
    const theirs = await allowed(admin)
    const page = await paste(own, mine.accessToken)
    expect(offered(page)).toEqual(['end', 'end_application', 'end_user', 'log_out'])
    const found = page.forms.flatMap(({ fields }) => fields.found ?? [])[0] ?? ''
    expect((await own.post(at.leaked, { found, at: '0', act: 'disable' })).status).toBe(404)
    await press(own, page, 'end_application')
    expect(await statusOf(app, mine.accessToken)).toBe(401)
    expect(await statusOf(app, theirs.accessToken)).toBe(200)
  })

  test('can revoke all own tokens, and log out all other browsers [T1310]', async () => {
    const mine = await allowed(own)
    const [one, two] = [await personal(own), await personal(own, 'Other')]
    const foreign = await personal(other)
    const elsewhere = await Person.logIn(app, { user: own.user })
    const page = await paste(own, one.accessToken)
    const after = await press(own, page, 'end_user')
    expect(after.done).toBe(done.ownTokensEnded)
    for (const { accessToken } of [one, two, mine])
      expect(await statusOf(app, accessToken)).toBe(401)
    expect(await statusOf(app, foreign.accessToken)).toBe(200)
    expect((await press(own, after, 'log_out')).done).toBe(done.otherSessionsEnded)
    expect((await elsewhere.get(at.list)).status).toBe(303)
    expect((await own.get(at.list)).status).toBe(200)
  })

  test('sees only own events in the history of an own application [T1311]', async () => {
    const { clientSecret, clientId } = await app.client({ userId: own.user.id, name: 'Printer' })
    await authorizationOf({ ...app, user: other.user } as TestServer, clientId)
    const page = await paste(own, clientSecret)
    expect(page.text).toContain(en.events['client.created'])
    expect(page.text).not.toContain(en.events['token.issued'])
  })
})

describe('an administrator', () => {
  test('finds a value of any user, and revokes it, all tokens of its application, or all tokens of its user [T1312]', async () => {
    const [first, second] = [await allowed(own), await personal(own)]
    const page = await paste(admin, first.accessToken)
    expect(page.fact(en.admin.user)).toBe(own.user.email)
    expect(page.html).toContain(`href="${at.adminUser(own.user.id)}"`)
    expect(page.fact(leaked.application)).toBe('Printer')
    expect(offered(page)).toEqual(['end', 'end_application', 'disable', 'end_user', 'log_out'])
    const ended = await press(admin, page, 'end')
    expect(ended.done).toBe(done.credentialEnded)
    expect(await statusOf(app, first.accessToken)).toBe(401)
    expect(await statusOf(app, second.accessToken)).toBe(200)
    expect(offered(ended)).not.toContain('end')
    expect((await press(admin, ended, 'end_user')).done).toBe(done.userTokensEnded(own.user.email))
    expect(await statusOf(app, second.accessToken)).toBe(401)
    expect((await press(admin, ended, 'log_out')).done).toBe(done.loggedOut(own.user.email))
    expect((await own.get(at.list)).status).toBe(303)
    expect((await press(admin, ended, 'disable')).done).toBe(done.clientDisabled('Printer'))
    expect((await app.server.clients.find(first.clientId))?.isDisabled).toBe(true)
  })

  test('revokes all tokens of an application in one step; the secret and other applications remain valid [T1313]', async () => {
    const [mine, foreign] = [await allowed(own), await allowed(own)]
    const theirs = await authorizationOf({ ...app, user: other.user } as TestServer, mine.clientId)
    const page = await paste(admin, mine.clientSecret)
    expect((await press(admin, page, 'end_application')).done).toBe(
      done.applicationTokensEnded('Printer'),
    )
    expect(await statusOf(app, mine.accessToken)).toBe(401)
    expect(await statusOf(app, theirs.accessToken)).toBe(401)
    expect(await statusOf(app, foreign.accessToken)).toBe(200)
    const client = await app.server.clients.find(mine.clientId)
    expect(client?.checkSecret(mine.clientSecret, app.now())).toBe(true)
    const consents = await app.server.authorizedApplications.listByUser(own.user.id, {
      after: null,
      limit: 25,
    })
    expect(consents.items.map(({ client }) => client.clientId)).toEqual([foreign.clientId])
  })

  test('is recorded in the audit log as the actor of every action [T1314]', async () => {
    const { accessToken } = await allowed(own)
    let page = await paste(admin, accessToken)
    for (const act of ['end', 'end_application', 'disable', 'end_user', 'log_out'])
      page = await press(admin, page, act)
    const rows = await app.query(
      `select event from oauth2server_audit where actor_email = '${admin.user.email}' and user_id = '${own.user.id}' order by id`,
    )
    expect(rows.map(({ event }) => event)).toEqual([
      'token.deleted',
      'consent.withdrawn',
      'user.tokens_ended',
      'session.ended',
    ])
    const acts = await app.query(
      `select event from oauth2server_audit where actor_email = '${admin.user.email}' and event like 'client.%' and user_id = '${other.user.id}' order by id`,
    )
    expect(acts.map(({ event }) => event)).toEqual(['client.tokens_ended', 'client.disabled'])
  })

  test('sees the label and the consequences of every action once [T1315]', async () => {
    const { accessToken } = await allowed(own)
    const page = await paste(admin, accessToken)
    for (const { label, about } of [
      acts.end,
      acts.endApplication,
      acts.disable,
      acts.endUser,
      acts.logOut,
    ]) {
      expect(page.html).toContain(`<summary>${label}</summary>`)
      expect(page.text).toContain(about)
    }
  })
})

describe('a text without a credential', () => {
  test.each([
    ['nothing', '', problems.credentialMissing],
    ['a short value', 'hunter2', problems.credentialMissing],
    [
      'a whole log',
      Array.from({ length: 30 }, (_, i) => `${i}`.padStart(43, 'x')).join(' '),
      problems.credentialsTooMany,
    ],
    ['markup', `<script>${'x'.repeat(43)}</script>`, problems.credentialNotYours],
    ['NUL and a lone surrogate', `\u0000\uD800${'x'.repeat(43)}`, problems.credentialNotYours],
    ['a huge value', 'x'.repeat(20_000), problems.credentialMissing],
  ])('is refused: %s [T1316]', async (_, text, sentence) => {
    const page = await own.post(at.leaked, { credential: text })
    expect([page.status, page.wrong('credential')]).toEqual([400, sentence])
    expect(page.html).not.toContain('xxxxx')
  })

  test('counts towards the limit of wrong tokens [T1317]', async () => {
    await using limited = await startServer({ limits: { wrongTokens: { points: 3, seconds: 60 } } })
    const person = await Person.logIn(limited)
    const { accessToken } = await limited.server.tokens.createPersonal('Backup', limited.user.id)
    const statuses: number[] = []
    for (const letter of 'abcdef')
      statuses.push((await person.post(at.leaked, { credential: letter.repeat(43) })).status)
    expect(statuses).toEqual([400, 400, 400, 429, 429, 429])
    const page = await person.post(at.leaked, { credential: accessToken })
    expect([page.status, page.alert]).toEqual([429, leaked.tooMany])
  })
})

test('a form that was open for too long returns empty, with an explanation [T1318]', async () => {
  const { accessToken } = await personal(own)
  const page = await own.postRaw(at.leaked, { credential: accessToken })
  expect([page.status, page.alert]).toEqual([403, leaked.stale])
  expect(page.html).not.toContain(accessToken)
})

test('a result disappears after ten minutes [T1319]', async () => {
  const { accessToken } = await personal(own)
  const { location } = await own.post(at.leaked, { credential: accessToken })
  app.advance(601)
  expect((await own.get(location ?? '')).alert).toBe(leaked.stale)
})

test('a script looks up and revokes a credential [T1320]', async () => {
  const script = await Script.logIn(app, own.user)
  const { accessToken } = await personal(own)
  const found = await script.post(at.leaked, { credential: `Bearer ${accessToken}` })
  expect(found.status).toBe(200)
  expect(found.body).toMatchObject({
    credentials: [
      {
        kind: 'personal_token',
        name: 'Backup',
        is_valid: true,
        user: own.user.email,
        acts: ['end', 'end_user', 'log_out'],
      },
    ],
  })
  expect(found.text).not.toContain(accessToken)
  const { found: reference } = found.body as { found: string }
  const ended = await script.post(at.leaked, { found: reference, at: 0, act: 'end' })
  expect(ended.body).toMatchObject({ credentials: [{ is_valid: false }] })
  expect((await script.get(`${at.leaked}?found=${reference}`)).body).toEqual(ended.body)
  expect((await script.post(at.leaked, { found: reference, at: 7, act: 'end' })).status).toBe(404)
  expect((await script.post(at.leaked, { found: 'x', act: 'end' })).status).toBe(404)
  expect((await script.post(at.leaked, { found: reference, act: 'x' })).status).toBe(400)
  expect((await script.post(at.leaked, { credential: accessToken })).status).toBe(400)
})

test('a JWT access token is found and revoked like any other token [T1322]', async () => {
  await using signing = await startServer({ accessTokenFormat: 'jwt' })
  const person = await Person.logIn(signing)
  const client = await TestClient.register(signing, person.session.agent, { name: 'Diary' })
  const { access_token } = await client.tokens()
  expect(access_token).toMatch(/^eyJ/)
  const page = await paste(person, `Authorization: Bearer ${access_token}`)
  expect(page.text).toContain(`${leaked.kinds.access_token} Diary`)
  await press(person, page, 'end')
  expect(await statusOf(signing, access_token)).toBe(401)
})

test('a key-bound token is found and revoked without a proof [T1323]', async () => {
  const client = await TestClient.register(app, own.session.agent, { name: 'Diary' })
  const key = await newKey()
  const { access_token } = (await redeem(client, await client.code(), { dpop: key })).body
  expect((await withKey(key, access_token, { app })).status).toBe(200)
  const page = await paste(own, `DPoP ${access_token}`)
  expect(page.fact(leaked.bound)).toBe(leaked.boundAbout)
  await press(own, page, 'end')
  expect((await withKey(key, access_token, { app })).status).toBe(401)
})
