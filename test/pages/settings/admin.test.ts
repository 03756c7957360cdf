import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { query } from '../../support/database.ts'
import { hostileTexts, skeleton } from '../../support/html.ts'
import { keepDescribed } from '../../support/internals.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { authorizationOf, clientOf, statusOf } from '../../support/tokens.ts'
import { responseTo, TestClient, tokenRequest } from '../../support/user-agent.ts'
import { written } from '../api/script.ts'
import { at, type Fields, type Form, type Page, Person, textOf } from './support.ts'

const { done, problems } = en

let app: TestServer
let admin: Person
let owner: Person
beforeAll(async () => {
  app = await startServer()
  admin = await Person.stranger(app, { isAdmin: true })
  owner = await Person.logIn(app)
})
afterAll(() => app.close())

/** Searches for clients, and for tokens. Returns the pages with the results. */
const search = (client: string): Promise<Page> =>
  admin.get(`${at.admin}?${new URLSearchParams({ client })}`)
const searchTokens = (token: string): Promise<Page> =>
  admin.get(`${at.adminTokens}?${new URLSearchParams({ token })}`)

const pageOf = (clientId: string): Promise<Page> => admin.get(at.adminApplication(clientId))

/** Returns the form on the page of a client with the given field. */
const formOf = (page: Page, clientId: string, field = 'seen'): Form =>
  page.form(at.adminApplication(clientId), field)

/** Sends the form of a client with the button of the action, as an administrator. */
const press = async (clientId: string, act: string): Promise<Page> =>
  admin.send(formOf(await pageOf(clientId), clientId), { act })

const acts = async (): Promise<readonly Record<string, unknown>[]> =>
  query(
    app.database,
    `select * from oauth2server_audit where actor_email = '${admin.user.email}' and event <> 'login.succeeded'
    order by at desc, id desc`,
  )

describe('the administration page', () => {
  test('returns 404 to other users for every method and form, and changes nothing', async () => {
    const { clientId } = await app.client()
    const before = written(app)
    const fields = { client_id: clientId, act: 'disable' }
    const responses = [
      await owner.get(at.adminHome),
      await owner.get(at.adminTokens),
      await owner.get(at.adminApplication(clientId)),
      await owner.post(at.adminApplication(clientId), { act: 'disable' }),
      await owner.post(at.adminTokens, { token_id: '1', act: 'delete' }),
      await owner.post(at.adminTokens, { search: 'token', token: 'x' }),
      await owner.get(at.admin),
      await owner.get(`${at.admin}?client=x`),
      await owner.request(at.admin, { method: 'HEAD' }),
      await owner.post(at.admin, fields),
      await owner.post(at.admin, { ...fields, act: 'delete', confirm_name: 'Client' }),
      await owner.post(at.admin, { token_id: '1', act: 'delete' }),
      await owner.post(at.admin, {}),
      await owner.postRaw(at.admin, fields),
      await owner.post(at.admin, { ...fields, is_admin: 'true' }),
    ]
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 404))
    const nothing = await owner.get('/account/settings/applications/nothing/')
    expect(responses[0]?.text).toBe(nothing.text)
    expect(written(app)).toEqual(before)
    expect((await owner.get(at.list)).html).not.toContain(at.adminHome)
  })

  test('is available to a user while the user is an administrator', async () => {
    const person = await Person.stranger(app, { isAdmin: true })
    expect((await person.get(at.list)).html).toContain(`href="${at.adminHome}"`)
    const pages = [at.adminHome, at.admin, at.adminTokens]
    for (const path of pages) expect((await person.get(path)).status).toBe(200)
    await app.server.users.setAdmin(person.user.id, false)
    for (const path of pages) expect((await person.get(path)).status).toBe(404)
    expect((await person.get(at.list)).html).not.toContain(at.adminHome)
  })

  test('begins with an overview, which links to each list [T3000]', async () => {
    const lists = [at.admin, at.adminTokens, at.adminUsers, at.adminActivity, at.leaked]
    const { html } = await admin.get(at.adminHome)
    const main = html.split('<main')[1] ?? ''
    const linked = [...main.matchAll(/<li><a href="([^"]*)">/g)].map(([, href]) => href)
    expect(linked).toEqual(lists)
    for (const path of lists.slice(0, 4)) {
      const [, tabs = ''] = (await admin.get(path)).html.split('<nav class="tabs"')
      expect(
        [...(tabs.split('</nav>')[0]?.matchAll(/href="([^"]*)"/g) ?? [])].map(([, to]) => to),
      ).toEqual(lists)
      expect(tabs).toContain(`<a href="${path}" aria-current="page">`)
    }
  })
})

describe('a search on the administration page', () => {
  let someone: Person
  let clientId: string
  beforeAll(async () => {
    someone = await Person.stranger(app, { email: 'searched@example.org' })
    clientId = (await app.client({ name: 'Ärger 100%_\\', userId: someone.user.id })).clientId
  })

  test.each<[string, () => string]>([
    ['a part of their name', () => 'rger 10'],
    ['a part of their name in another case', () => 'RGER 1'],
    ['special characters of SQL patterns', () => '0%_\\'],
    ['a part of their client ID', () => clientId.slice(5, 20)],
    ['the e-mail address of their owner', () => 'searched@'],
    ['a text with surrounding spaces', () => '  Ärger '],
  ])('finds applications by %s', async (_, text) => {
    const page = await search(text())
    expect(page.names).toEqual(['Ärger 100%_\\'])
    const box = /<input id="q" name="client"[^>]*>/.exec(page.html)?.[0]
    expect(box).toContain(` value="${text().trim()}"`)
  })

  test('reports an empty result, and links to the whole list', async () => {
    for (const [page, list] of [
      [await search('nothing at all'), at.admin],
      [await searchTokens('nothing'), at.adminTokens],
    ] as const) {
      expect(page.text).toContain(en.list.nothing)
      expect(page.html).toContain(`<a href="${list}#list">${en.list.clear}</a>`)
    }
  })

  test('finds tokens by user, client and ID, but not the former values of tokens', async () => {
    const { id } = await app.server.tokens.createPersonal('Laptop', someone.user.id)
    await app.server.personalTokens.rotate(id, { overlap: 600 })
    const { token } = await authorizationOf({ ...app, user: someone.user } as TestServer, clientId)
    const found = async (text: string) =>
      (await searchTokens(text)).forms.flatMap(({ fields }) => fields.token_id ?? []).toSorted()
    expect(await found('searched@example.org')).toEqual([`${id}`, `${token.id}`].toSorted())
    expect(await found('SEARCHED@example.org')).toHaveLength(2)
    expect(await found(clientId)).toEqual([`${token.id}`])
    expect(await found(`${id}`)).toEqual([`${id}`])
  })

  test('finds internal tokens, but not the hidden clients of personal tokens', async () => {
    const { id, clientId } = await app.server.tokens.createPersonal('For itself', app.user.id, {
      isInternal: true,
    })
    expect((await searchTokens(`${id}`)).names).toContain('For itself')
    expect((await search(clientId)).names).not.toContain('For itself')
    expect((await search('For itself')).names).not.toContain('For itself')
  })

  test.each<[string, Record<string, string>]>([
    ['quotes', { client: '\'"; drop table x --', token: "' or 1=1 --" }],
    ['markup', { client: '<script>alert(1)</script>', token: '"><b>' }],
    ['NUL', { client: 'a\u0000b', token: '\u0000' }],
    ['a very long text', { client: 'x'.repeat(5_000), token: '9 '.repeat(2_500) }],
    ['a lone surrogate', { client: '\uD800', token: '\uDFFF' }],
    ['an invalid number', { token: '1e3' }],
    ['an invalid position', { from: 'x', after: '-1.', before: 'x' }],
    [
      'an unknown order and filter',
      { sort: 'x', filter: 'constructor', kind: '__proto__', scope: 'x' },
    ],
  ])('accepts %s', async (_, fields) => {
    for (const list of [at.admin, at.adminTokens]) {
      const page = await admin.get(`${list}?${new URLSearchParams(fields)}`)
      expect(page.status).toBe(200)
      expect(page.html).not.toMatch(/<script>|<b>/)
    }
  })

  test('shows no token value, secret or digest', async () => {
    const { clientId, clientSecret } = await app.client({ name: 'Looked at' })
    const { accessToken, refreshToken } = await authorizationOf(app, clientId)
    const personal = await app.server.tokens.createPersonal('Secret', app.user.id)
    const pages = [
      await search(clientId),
      await pageOf(clientId),
      await searchTokens(app.user.email),
    ]
    const html = pages.map((page) => page.html).join('')
    for (const text of [clientSecret, accessToken, refreshToken, personal.accessToken])
      expect(html).not.toContain(text)
    expect(html).not.toContain((await clientOf(app, clientId)).clientSecret)
  })

  test('is combined with an order and a filter, which remain after the next action [T3001]', async () => {
    const name = 'Filtered'
    const ids: string[] = []
    for (const input of [{}, { isConfidential: false }, {}])
      ids.push((await app.client({ name: `${name} ${ids.length}`, ...input })).clientId)
    const [used = '', , disabled = ''] = ids
    await authorizationOf(app, used)
    await press(disabled, 'disable')
    const shown = async (query: Record<string, string>) =>
      (await admin.get(`${at.admin}?${new URLSearchParams({ client: name, ...query })}`)).names
    expect(await shown({ sort: 'name' })).toEqual(['Filtered 0', 'Filtered 1', 'Filtered 2'])
    expect(await shown({ filter: 'unused', sort: 'name' })).toEqual(['Filtered 1', 'Filtered 2'])
    expect(await shown({ filter: 'public' })).toEqual(['Filtered 1'])
    expect(await shown({ filter: 'disabled' })).toEqual(['Filtered 2'])
    expect(await shown({ filter: 'verified' })).toEqual([])
    expect(await shown({ filter: 'unverified' })).toHaveLength(3)
    expect(await shown({ filter: 'self_registered' })).toEqual([])
    const path = `${at.admin}?client=Filtered&sort=name&filter=disabled`
    const row = (await admin.get(path)).forms.find(
      ({ fields }) => fields.client_id?.[0] === disabled,
    )
    expect(row?.fields.act).toEqual(['enable'])
    const sent = await admin.send(row as Form)
    expect(sent.location).toBe(`${path}#list`)
    const after = await admin.follow(sent)
    expect(after.done).toBe(done.clientEnabled('Filtered 2'))
    expect(after.text).toContain(en.list.nothing)
    // The page of an application leads back to the same search, also after the deletion.
    const [, link = ''] =
      /<a href="([^"]*)"><bdi>Filtered 1/.exec(
        (await admin.get(`${at.admin}?client=Filtered`)).html,
      ) ?? []
    const detail = await admin.get(link.replaceAll('&amp;', '&'))
    expect(detail.html).toContain(`<a href="${at.admin}?client=Filtered#list">`)
    const form = detail.forms.find(({ fields }) => 'confirm_name' in fields)
    const gone = await admin.send(form as Form, { confirm_name: 'Filtered 1' })
    expect(gone.location).toBe(`${at.admin}?client=Filtered#list`)
    expect((await admin.follow(gone)).done).toBe(done.clientDeleted('Filtered 1'))
  })

  test('among tokens is combined with a kind, a state and a scope [T3002]', async () => {
    const person = await Person.stranger(app, { email: 'kinds@example.org' })
    const { email, id } = person.user
    const { clientId } = await app.client({ name: 'Kinds' })
    const access = await app.server.tokens.issue({
      type: 'user',
      client: await clientOf(app, clientId),
      subject: person.user,
      scopes: ['notes:read'],
      refreshable: false,
    })
    const { token } = await authorizationOf({ ...app, user: person.user } as TestServer, clientId)
    const forever = await app.server.tokens.createPersonal('Forever', id, {
      scopes: ['notes:write'],
    })
    const ending = await app.server.tokens.createPersonal('Ending', id, { expiresIn: 86_400 })
    const found = async (query: Record<string, string>) => {
      const page = await admin.get(
        `${at.adminTokens}?${new URLSearchParams({ token: email, ...query })}`,
      )
      return page.forms.flatMap(({ fields }) => fields.token_id ?? []).map(Number)
    }
    const issued = (await app.server.getToken({ accessToken: access.accessToken }))?.token.id
    expect(await found({})).toEqual([ending.id, forever.id, token.id, issued])
    expect(await found({ kind: 'personal' })).toEqual([ending.id, forever.id])
    expect(await found({ kind: 'access' })).toEqual([issued])
    expect(await found({ kind: 'refresh' })).toEqual([token.id])
    expect(await found({ kind: 'personal', filter: 'expiring' })).toEqual([ending.id])
    expect(await found({ filter: 'no_expiry' })).toEqual([forever.id])
    expect(await found({ scope: 'notes:write' })).toEqual([forever.id])
    expect(await found({ sort: 'name' })).toEqual([ending.id, forever.id, issued, token.id])
    await person.session.agent.fetch(`${app.issuer}/api/me`, {
      headers: { authorization: `Bearer ${forever.accessToken}` },
    })
    expect(await found({ kind: 'personal', filter: 'never_used' })).toEqual([ending.id])
  })
})

describe('an operation of an administrator applies from the next request', () => {
  /** Creates an application with a user, valid tokens and credentials. */
  const newApplication = async () => {
    const client = await TestClient.register(app, owner.session.agent, {
      name: 'Watched',
      defaultScopes: ['notes:read'],
    })
    const { access_token, refresh_token } = await client.tokens()
    return { client, access_token, refresh_token }
  }

  const credentials = async (client: TestClient): Promise<number> =>
    (await client.token({ grant_type: 'client_credentials' })).status

  test('disabling a client makes every endpoint reject the client, and enabling makes them accept the client again', async () => {
    const { client, access_token, refresh_token } = await newApplication()
    const code = await client.code()
    const sent = await press(client.clientId, 'disable')
    expect([sent.status, sent.location]).toEqual([303, at.adminApplication(client.clientId)])
    expect((await admin.follow(sent)).done).toBe(done.clientDisabled('Watched'))
    expect(await statusOf(app, access_token)).toBe(401)
    expect(await credentials(client)).toBe(401)
    expect((await client.refresh(refresh_token)).status).toBe(401)
    expect((await client.redeem(code)).status).toBe(401)
    const page = await owner.session.agent.browse(client.url())
    expect([page.status, page.headers.get('location')]).toEqual([400, null])
    expect(page.address).toContain('/oauth/errors')
    expect((await owner.get(at.list)).item(client.clientId)).toContain(en.facts.disabled)

    const again = await press(client.clientId, 'enable')
    expect((await admin.follow(again)).done).toBe(done.clientEnabled('Watched'))
    expect(await statusOf(app, access_token)).toBe(200)
    expect(await credentials(client)).toBe(200)
    expect((await client.refresh(refresh_token)).status).toBe(200)
    const response = await client.ask()
    expect(responseTo(client, response).code).toBeDefined()
  })

  test('the last of several operations in quick succession applies', async () => {
    const { client, access_token } = await newApplication()
    for (const act of ['disable', 'enable', 'disable', 'enable', 'disable']) {
      await press(client.clientId, act)
      expect(await statusOf(app, access_token)).toBe(act === 'disable' ? 401 : 200)
    }
  })

  test('verifying a client removes the warning on the consent page, and unverifying restores the warning', async () => {
    const { client } = await newApplication()
    const asked = async (): Promise<Page> => owner.get(client.url({ prompt: 'consent' }))
    const warning = en.consent.unverified(new URL(app.issuer).host)
    expect((await asked()).text).toContain(warning)
    expect((await admin.follow(await press(client.clientId, 'verify'))).done).toBe(
      done.clientVerified('Watched'),
    )
    const verified = await asked()
    expect(verified.text).not.toContain(warning)
    expect(verified.text).toContain(en.facts.verified)
    expect((await owner.get(at.client(client.clientId))).text).toContain(en.facts.verified)
    await press(client.clientId, 'unverify')
    expect((await asked()).text).toContain(warning)
  })

  test('verifying a client that changed after the page was loaded returns 400, and changes nothing', async () => {
    const { client } = await newApplication()
    for (const changes of [
      { name: 'Your Bank' },
      { description: 'Your bank' },
      { website: 'https://bank.example' },
      { redirect_uris: 'https://evil.example' },
    ]) {
      const form = formOf(await pageOf(client.clientId), client.clientId)
      await owner.fill(at.client(client.clientId), changes)
      const before = written(app)
      const page = await admin.send(form, { act: 'verify' })
      expect([page.status, page.alert]).toEqual([400, problems.changedMeanwhile])
      // The page opens the confirmation of the deletion only after a rejected deletion.
      expect(page.html).not.toContain('<details class="danger" open')
      expect(written(app)).toEqual(before)
      // The same form can still disable the changed client.
      expect((await admin.send(form, { act: 'disable' })).status).toBe(303)
    }
    expect((await press(client.clientId, 'verify')).status).toBe(303)
  })

  test('only a client with a metadata document can be pinned, if the client has not changed since the page was shown [T2914]', async () => {
    const clientId = 'https://client.example/oauth/client.json'
    const registration = {
      origin: 'metadata_document',
      registrationToken: null,
      metadata: '{}',
    } as const
    const { clients } = app.server
    const keep = async (name: string) => {
      const input = { name, isConfidential: false, redirectUris: ['https://client.example/cb'] }
      await keepDescribed(app.server, clientId, input, registration)
    }
    await keep('Assistant')
    const { client: other } = await newApplication()
    const pinButton = 'value="pin"'
    expect((await pageOf(other.clientId)).html).not.toContain(pinButton)
    expect((await admin.post(at.admin, { client_id: other.clientId, act: 'pin' })).status).toBe(400)
    const page = await pageOf(clientId)
    expect(page.html).toContain(pinButton)
    const form = formOf(page, clientId)
    await keep('Your Bank')
    const stale = await admin.send(form, { act: 'pin' })
    expect([stale.status, stale.alert]).toEqual([400, problems.changedMeanwhile])
    const pinned = await admin.follow(await press(clientId, 'pin'))
    expect(pinned.done).toBe(done.clientPinned('Your Bank'))
    await keep('Another')
    const shown = await pageOf(clientId)
    expect(shown.text).toContain(en.facts.pinned)
    expect(shown.text).toContain('Your Bank')
    expect(shown.html).not.toContain(pinButton)
    const unpinned = await admin.follow(await press(clientId, 'unpin'))
    expect(unpinned.done).toBe(done.clientUnpinned('Your Bank'))
    expect((await pageOf(clientId)).html).toContain(pinButton)
    // The ID of this client is a URL.
    const [item] = (await search(clientId)).items
    expect(item).toContain(`href="${at.adminApplication(clientId)}?back=`)
    await clients.delete(clientId)
  })

  test('the default resource is chosen among the resources of the server [T2915]', async () => {
    const { client } = await newApplication()
    expect((await pageOf(client.clientId)).html).not.toContain('default_resource')
    const reports = 'https://api.example.org/reports'
    await using other = await startServer({ resources: [{ resource: reports }] })
    const someone = await Person.stranger(other, { isAdmin: true })
    const { clientId } = await other.client({ name: 'Old Assistant' })
    const stored = async () => (await other.server.clients.find(clientId))?.defaultResource
    const choose = async (default_resource: string) => {
      const page = await someone.get(at.adminApplication(clientId))
      const form = formOf(page, clientId, 'default_resource')
      return someone.send(form, { default_resource, act: 'set_default_resource' })
    }
    const chosen = await someone.follow(await choose(reports))
    expect(chosen.done).toBe(done.defaultResourceChanged('Old Assistant'))
    expect(await stored()).toBe(reports)
    const page = await someone.get(at.adminApplication(clientId))
    expect(page.html).toContain(`<option value="${reports}" selected`)
    // The form is closed at first.
    expect(page.html).toContain(`<details>\n<summary>${en.admin.defaultResource}</summary>`)
    expect((await choose('https://evil.example')).status).toBe(400)
    expect(await stored()).toBe(reports)
    expect((await choose(other.issuer)).status).toBe(303)
    expect(await stored()).toBe(other.issuer)
    await choose('')
    expect(await stored()).toBeNull()
    const rows = query(
      other.database,
      "select actor_email from oauth2server_audit where event = 'client.edited'",
    )
    expect(rows).toEqual(Array.from({ length: 3 }, () => ({ actor_email: someone.user.email })))
  })

  test('deleting a client requires its name, and deletes the client and its tokens', async () => {
    const { client, access_token } = await newApplication()
    const form = formOf(await pageOf(client.clientId), client.clientId, 'confirm_name')
    const before = written(app)
    for (const confirm_name of [undefined, '', 'watched', client.clientId]) {
      const refused = await admin.send(form, { confirm_name })
      expect([refused.status, refused.alert]).toEqual([
        400,
        `${en.admin.delete} ${problems.confirmName}`,
      ])
    }
    expect(written(app)).toEqual(before)
    const sent = await admin.send(form, { confirm_name: 'Watched' })
    expect((await admin.follow(sent)).done).toBe(done.clientDeleted('Watched'))
    expect(await statusOf(app, access_token)).toBe(401)
    expect(await credentials(client)).toBe(401)
    expect(await app.server.clients.find(client.clientId)).toBeUndefined()
    expect((await owner.get(at.client(client.clientId))).status).toBe(404)
  })

  test('deleting a token revokes only the authorization of the token', async () => {
    const { client, access_token, refresh_token } = await newApplication()
    const other = await authorizationOf(app, client.clientId)
    const page = await searchTokens(client.clientId)
    const [, id = ''] = page.forms.flatMap(({ fields }) => fields.token_id ?? [])
    const form = page.forms.find(({ fields }) => fields.token_id?.[0] === id)
    const sent = await admin.send(form as Form)
    expect((await admin.follow(sent)).done).toBe(done.tokenDeleted('Watched'))
    expect(await statusOf(app, access_token)).toBe(401)
    expect((await client.refresh(refresh_token)).status).toBe(400)
    expect(await statusOf(app, other.accessToken)).toBe(200)
  })

  test('deleting a personal token, an internal token or a token of client_credentials invalidates the token', async () => {
    const { clientId, clientSecret } = await app.client({ defaultScopes: ['notes:read'] })
    const own = await tokenRequest(
      app.issuer,
      { grant_type: 'client_credentials' },
      { basic: { clientId, clientSecret } },
    )
    const values = [
      (await app.server.tokens.createPersonal('A', app.user.id)).accessToken,
      (await app.server.tokens.createPersonal('B', app.user.id, { isInternal: true })).accessToken,
      String(own.body.access_token),
    ]
    for (const accessToken of values) {
      const found = await app.server.getToken({ accessToken })
      const token_id = `${found?.token.id}`
      expect((await admin.post(at.admin, { token_id, act: 'delete' })).status).toBe(303)
      expect(await statusOf(app, accessToken)).toBe(401)
    }
  })

  test('revoking all tokens of a client preserves the client and its secret [T3003]', async () => {
    const { client, access_token, refresh_token } = await newApplication()
    const form = (await pageOf(client.clientId)).forms.find(
      ({ fields }) => fields.act?.[0] === 'end_tokens',
    )
    const sent = await admin.send(form as Form)
    expect((await admin.follow(sent)).done).toBe(done.applicationTokensEnded('Watched'))
    expect(await statusOf(app, access_token)).toBe(401)
    expect((await client.refresh(refresh_token)).status).toBe(400)
    expect(await credentials(client)).toBe(200)
    const [last] = await acts()
    expect(last).toMatchObject({ event: 'client.tokens_ended', address: '127.0.0.1' })
  })

  test('disabling an internal client invalidates its tokens', async () => {
    const { clientId } = await app.client({ isInternal: true })
    const { accessToken } = await authorizationOf(app, clientId)
    await press(clientId, 'disable')
    expect(await statusOf(app, accessToken)).toBe(401)
  })
})

describe('the audit log', () => {
  test('contains the actor, action, subject, IP address and time of each operation, listed latest first', async () => {
    const { clientId } = await app.client({ name: 'Recorded' })
    const { token } = await authorizationOf(app, clientId)
    app.advance(60)
    for (const act of ['verify', 'disable', 'enable', 'unverify']) await press(clientId, act)
    await admin.post(at.admin, { token_id: `${token.id}`, act: 'delete' })
    await admin.post(at.admin, { client_id: clientId, act: 'delete', confirm_name: 'Recorded' })
    const recorded = (await acts()).slice(0, 6)
    const events = [
      'client.deleted',
      'token.deleted',
      'client.unverified',
      'client.enabled',
      'client.disabled',
      'client.verified',
    ] as const
    expect(recorded.map(({ event }) => event)).toEqual(events)
    for (const row of recorded)
      expect(row).toMatchObject({
        at: app.now(),
        actor_email: admin.user.email,
        address: '127.0.0.1',
        client_id: clientId,
        subject: 'Recorded',
      })
    const shown = (await admin.get(`${at.adminActivity}?client=${clientId}`)).items
    const lines = shown.map(textOf)
    expect(lines.slice(0, 6).map((line) => line.replace(/(?: …\w{4})? When .*/, ''))).toEqual(
      events.map((event) => `${en.events[event]} Recorded`),
    )
    expect(lines[0]).toContain(admin.user.email)
  })

  test('does not contain a rejected operation', async () => {
    const { clientId } = await app.client({ name: 'Untouched' })
    const before = await acts()
    const wrong: readonly [Fields, status: number][] = [
      [{ client_id: clientId }, 400],
      [{ client_id: clientId, act: '' }, 400],
      [{ client_id: clientId, act: 'praise' }, 400],
      [{ client_id: clientId, act: 'VERIFY' }, 400],
      [{ client_id: clientId, act: 'constructor' }, 400],
      [{ client_id: clientId, act: ['verify', 'disable'] }, 400],
      [{ client_id: clientId, act: 'delete' }, 400],
      [{ client_id: [clientId, clientId], act: 'verify' }, 400],
      [{ client_id: 'absent', act: 'verify' }, 404],
      [{ client_id: '', act: 'verify' }, 404],
      [{ act: 'verify' }, 404],
      [{ token_id: '999999', act: 'delete' }, 404],
      ...['0', '-1', '1e0', '1.0', ' 1', '1 ', '0x1', '+1', '01', '١', '9'.repeat(20), 'x'].map(
        (token_id): [Fields, number] => [{ token_id, act: 'delete' }, 404],
      ),
    ]
    for (const [fields, status] of wrong)
      expect([fields, (await admin.post(at.admin, fields)).status]).toEqual([fields, status])
    const personal = await app.server.tokens.createPersonal('Laptop', app.user.id)
    const later = written(app)
    for (const fields of [
      { token_id: `${personal.id}`, act: 'disable' },
      { token_id: `${personal.id}` },
      { token_id: [`${personal.id}`, `${personal.id}`], act: 'delete' },
    ])
      expect((await admin.post(at.admin, fields)).status).toBe(400)
    for (const act of ['verify', 'disable', 'delete'])
      expect(
        (await admin.post(at.admin, { client_id: personal.clientId, act, confirm_name: 'Laptop' }))
          .status,
      ).toBe(404)
    expect(written(app)).toEqual(later)
    expect(await acts()).toEqual(before)
  })
})

describe('the administration page escapes values from other users', () => {
  test.each(hostileTexts)('%s', async (text) => {
    const name = [...text].slice(0, 40).join('')
    // Display the notices of earlier tests now, so that they do not appear on the tested pages.
    for (const list of [at.admin, at.adminTokens]) await admin.get(list)
    const page = async (name: string): Promise<readonly Page[]> => {
      const { clientId } = await app.client({ name })
      await authorizationOf(app, clientId)
      await press(clientId, 'verify')
      return [await search(clientId), await searchTokens(clientId), await pageOf(clientId)]
    }
    const shown = await page(name)
    const harmless = await page('x')
    for (const [index, { html }] of shown.entries())
      expect(skeleton(html)).toEqual(skeleton(harmless[index]?.html ?? ''))
    const written = name.replaceAll(/\s+/g, ' ').trim()
    expect(shown.flatMap(({ names }) => names)).toEqual([written, written])
    for (const reflected of [await search(text), await searchTokens(text)])
      expect(skeleton(reflected.html).join('')).not.toMatch(
        /onerror|onfocus|onload|onmouseover|<base|<img|<svg/,
      )
  })
})
