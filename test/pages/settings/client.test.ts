import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unescaped } from '../../support/html.ts'
import { redirectUri, startServer, type TestServer, testScopes } from '../../support/server.ts'
import { browser } from '../../support/session.ts'
import { en } from '../../support/texts.ts'
import { authorizationOf, clientOf, statusOf } from '../../support/tokens.ts'
import { TestClient, tokenRequest, UserAgent } from '../../support/user-agent.ts'
import { written } from '../api/script.ts'
import { at, curl, type Fields, type Page, Person } from './support.ts'

const { problems } = en

let app: TestServer
let person: Person
beforeAll(async () => {
  app = await startServer()
  person = await Person.logIn(app)
})
afterAll(() => app.close())

const full = {
  name: 'Printer',
  description: 'Prints.',
  website: 'https://printer.example',
  logoUri: 'https://printer.example/logo.png',
  redirectUris: ['https://printer.example/cb', redirectUri],
  defaultScopes: ['notes:read'],
  optionalScopes: ['notes:read', 'notes:write'],
}

/** Edits a client, and confirms the losses that the page lists. */
const edit = async (clientId: string, changes: Fields): Promise<Page> => {
  const page = await person.fill(at.client(clientId), changes)
  return page.status === 200 ? person.send(page.form(at.client(clientId), 'name'), {}) : page
}

/** Returns whether the token endpoint accepts the credentials. */
const areValid = async (clientId: string, clientSecret: string): Promise<boolean> => {
  const grant = { grant_type: 'client_credentials' }
  const { status } = await tokenRequest(app.issuer, grant, { basic: { clientId, clientSecret } })
  return status === 200
}

describe('editing a client', () => {
  test.each<[field: string, Fields, after: object]>([
    ['name', { name: ' Other ' }, { name: 'Other' }],
    ['description', { description: 'One.\n\nTwo.' }, { description: 'One.\n\nTwo.' }],
    ['a description to an empty one', { description: '' }, { description: '' }],
    ['website', { website: 'https://other.example' }, { website: 'https://other.example' }],
    ['a website to an empty one', { website: '' }, { website: '' }],
    [
      'redirect_uris',
      { redirect_uris: '\nhttps://b.example\n' },
      { redirectUris: ['https://b.example'] },
    ],
    ['redirect_uris to an empty list', { redirect_uris: '' }, { redirectUris: [] }],
    ['default_scopes', { default_scopes: ['user:email'] }, { defaultScopes: ['user:email'] }],
    ['optional_scopes', { optional_scopes: 'user:email' }, { optionalScopes: ['user:email'] }],
    ['default_scopes to an empty list', { default_scopes: undefined }, { defaultScopes: [] }],
    ['optional_scopes to an empty list', { optional_scopes: undefined }, { optionalScopes: [] }],
    ['is_confidential', { is_confidential: 'false' }, { isConfidential: false }],
    ['no field', {}, {}],
  ])('changes only the submitted field: %s', async (_, changes, after) => {
    const { clientId } = await app.client(full)
    const before = { ...(await clientOf(app, clientId)) }
    const sent = await edit(clientId, changes)
    expect([sent.status, sent.location]).toEqual([303, at.client(clientId)])
    // A client that becomes public has a new key, which revokes all its grants.
    const clientKey = 'isConfidential' in after ? expect.any(Number) : before.clientKey
    expect({ ...(await clientOf(app, clientId)) }).toEqual({ ...before, ...after, clientKey })
    expect((await person.follow(sent)).done).toBe(en.done.clientSaved)
    expect((await person.follow(sent)).done).toBe('')
  })

  test('shows the stored values in the form', async () => {
    const { clientId } = await app.client({ ...full, isConfidential: false })
    const { csrf_token, form_id, version, ...fields } = (
      await person.get(at.client(clientId))
    ).form(at.client(clientId), 'name').fields
    expect(fields).toEqual({
      name: ['Printer'],
      description: ['Prints.'],
      website: ['https://printer.example'],
      logo_uri: ['https://printer.example/logo.png'],
      redirect_uris: [`https://printer.example/cb\n${redirectUri}`],
      is_confidential: ['false'],
      default_scopes: ['notes:read'],
      optional_scopes: ['notes:read', 'notes:write'],
    })
  })

  test('a form without a field leaves its value unchanged, except for checkboxes and the client type (decision §2)', async () => {
    const { clientId } = await app.client({ ...full, isConfidential: false })
    expect((await person.post(at.client(clientId), { name: 'Only a name' })).status).toBe(303)
    expect(await clientOf(app, clientId)).toMatchObject({
      name: 'Only a name',
      description: 'Prints.',
      website: 'https://printer.example',
      redirectUris: full.redirectUris,
      isConfidential: true,
      defaultScopes: [],
      optionalScopes: [],
    })
  })

  test('an invalid field returns 400 with all typed values, and changes nothing', async () => {
    const { clientId } = await app.client(full)
    const before = written(app)
    const typed = {
      name: 'Typed',
      description: 'Typed',
      website: 'https://typed.example',
      redirect_uris: 'https://a.example\n\nhttp://b.example',
      is_confidential: 'false',
      default_scopes: ['user:email'],
      optional_scopes: undefined,
    }
    const page = await edit(clientId, typed)
    expect(page.status).toBe(400)
    expect(page.wrong('redirect_uris')).toContain(
      en.frame.line({ line: 3, sentence: problems.redirectUriNotHttps }),
    )
    expect(page.form(at.client(clientId), 'name').fields).toMatchObject({
      name: ['Typed'],
      description: ['Typed'],
      website: ['https://typed.example'],
      redirect_uris: ['https://a.example\r\n\r\nhttp://b.example'],
      is_confidential: ['false'],
      default_scopes: ['user:email'],
    })
    expect(page.form(at.client(clientId), 'name').fields).not.toHaveProperty('optional_scopes')
    // The heading still contains the stored name.
    expect(page.html).toContain('<h1><bdi>Printer</bdi></h1>')
    expect(written(app)).toEqual(before)
    for (const changes of [
      { name: '' },
      { website: 'x' },
      { description: 'x'.repeat(4_001) },
      { is_confidential: '1' },
      { default_scopes: 'test:scope' },
      { optional_scopes: 'x' },
      { name: ['a', 'b'] },
    ])
      expect((await edit(clientId, changes)).status, JSON.stringify(changes)).toBe(400)
    expect(written(app)).toEqual(before)
  })

  test('SC-01 neither shows nor removes an internal scope that application code granted', async () => {
    const { clientId } = await app.client({ ...full, defaultScopes: ['notes:read', 'test:scope'] })
    const page = await person.get(at.client(clientId))
    expect(page.html).not.toContain('test:scope')
    await edit(clientId, { default_scopes: 'notes:write' })
    expect((await clientOf(app, clientId)).defaultScopes).toEqual(['notes:write', 'test:scope'])
  })

  test('removes a scope that is no longer registered, without an error', async () => {
    const { clientId } = await app.client({ ...full, defaultScopes: ['notes:read', 'notes:write'] })
    const scopes = testScopes.filter(({ id }) => id !== 'notes:write')
    await using later = await startServer({ beside: app, scopes })
    const owner = await Person.logIn(later)
    const page = await owner.get(at.client(clientId))
    expect(page.status).toBe(200)
    const sent = await owner.send(page.form(at.client(clientId), 'name'), { name: 'Saved' })
    expect(sent.status).toBe(303)
    expect(await clientOf(app, clientId)).toMatchObject({
      name: 'Saved',
      defaultScopes: ['notes:read'],
      optionalScopes: ['notes:read'],
    })
  })

  test('does not remove the verification if the fields that the administrator checked remain unchanged', async () => {
    const { clientId } = await app.client(full)
    const isVerified = async (changes: Fields): Promise<boolean> => {
      await app.server.clients.mark(clientId, { isVerified: true })
      expect((await edit(clientId, changes)).status).toBe(303)
      return (await clientOf(app, clientId)).isVerified
    }
    expect(await isVerified({ default_scopes: undefined })).toBe(true)
    expect(await isVerified({ redirect_uris: redirectUri })).toBe(true)
    expect(await isVerified({ redirect_uris: 'https://evil.example' })).toBe(false)
    expect(await isVerified({ description: 'Your bank' })).toBe(false)
    expect(await isVerified({ website: 'https://bank.example' })).toBe(false)
    expect(await isVerified({ name: 'Your Bank' })).toBe(false)
  })
})

describe('a client whose type the form sets', () => {
  test('loses the authorizations that it received as a confidential client', async () => {
    const agent = new UserAgent({ 'user-agent': browser })
    const client = await TestClient.register(app, agent, full)
    const { access_token, refresh_token } = await client.tokens()
    const code = await client.code()
    await edit(client.clientId, { is_confidential: 'false' })
    expect(await statusOf(app, access_token)).toBe(401)
    expect((await client.refresh(refresh_token, { client_id: client.clientId })).status).not.toBe(
      200,
    )
    expect(
      (await client.token({ grant_type: 'refresh_token', refresh_token }, 'none')).status,
    ).toBe(400)
    const redeemed = await client.token(
      {
        grant_type: 'authorization_code',
        code,
        redirect_uri: client.redirectUri,
        code_verifier: client.pkce.verifier,
      },
      'none',
    )
    expect([redeemed.status, redeemed.body.error]).toEqual([400, 'invalid_grant'])
    expect(await app.server.consents.find(app.user.id, client.clientId)).toBeUndefined()
    expect(await areValid(client.clientId, client.clientSecret)).toBe(false)
    const page = await person.get(at.client(client.clientId))
    expect(page.fact(en.facts.type)).toBe(en.facts.public)
    expect(page.fact(en.facts.clientSecret)).toBeUndefined()
    expect(page.forms.some(({ action }) => action.endsWith('/reset/'))).toBe(false)
  })

  test('retains its authorizations if its type remains unchanged', async () => {
    const { clientId } = await app.client(full)
    const { accessToken } = await authorizationOf(app, clientId)
    await edit(clientId, { name: 'Other', redirect_uris: 'https://other.example' })
    expect(await statusOf(app, accessToken)).toBe(200)
  })

  test('receives a secret, which the page shows once, if it becomes confidential again', async () => {
    const { clientId, clientSecret } = await app.client({ ...full, isConfidential: false })
    const page = await person.follow(await edit(clientId, { is_confidential: 'true' }))
    expect(await areValid(clientId, page.copied('client-secret') ?? '')).toBe(true)
    const again = await person.get(at.client(clientId))
    expect(again.copied('client-secret')).toBeUndefined()
    expect(again.fact(en.facts.clientSecret)).toBe(en.client.secretKept)
    expect(await areValid(clientId, clientSecret)).toBe(false)
  })
})

describe('resetting the secret', () => {
  const reset = async (clientId: string, changes: Fields = {}): Promise<Page> =>
    person.send((await person.get(at.client(clientId))).form(at.reset(clientId)), changes)

  test.each<[string, Fields, seconds: number]>([
    ['in the unchanged form', {}, 0],
    ['that is missing', { overlap: undefined }, 0],
    ['that is empty', { overlap: '' }, 0],
    ['of 0 s', { overlap: '0' }, 0],
    ['of 1 s', { overlap: '1' }, 1],
    ['of an hour', { overlap: '3600' }, 3_600],
    ['of a week', { overlap: '604800' }, 604_800],
    ['of 30 days, the maximum', { overlap: '2592000' }, 2_592_000],
  ])(
    'with an overlap %s, the former secret remains valid during the overlap',
    async (_, changes, seconds) => {
      const { clientId, clientSecret } = await app.client(full)
      const sent = await reset(clientId, changes)
      expect([sent.status, sent.location]).toEqual([303, at.client(clientId)])
      const page = await person.follow(sent)
      expect(page.done).toBe(en.done.secretReset)
      const secret = page.copied('client-secret') ?? ''
      expect(secret).toMatch(/^\w{60}$/)
      expect(page.html.includes('class="notice caution"')).toBe(seconds > 0)
      expect(await areValid(clientId, secret)).toBe(true)
      expect(await areValid(clientId, clientSecret)).toBe(seconds > 0)
      expect((await person.follow(sent)).copied('client-secret')).toBeUndefined()
      if (seconds === 0 || seconds > 3_600) return
      app.advance(seconds)
      expect(await areValid(clientId, clientSecret)).toBe(false)
      expect(await areValid(clientId, secret)).toBe(true)
      expect((await person.get(at.client(clientId))).html).not.toContain('class="notice caution"')
    },
  )

  test.each<[string, string | readonly string[], atField: boolean]>([
    ['that is a word', 'week', true],
    ['that is negative', '-1', true],
    ['that is a fraction', '1.5', true],
    ['with an exponent', '1e3', true],
    ['in hexadecimal digits', '0x10', true],
    ['in Arabic digits', '١٢', true],
    ['with a space', ' 60', true],
    ['that exceeds the maximum by a second', '2592001', true],
    ['of 20 digits', '9'.repeat(20), true],
    ['that is a null character', '\u0000', true],
    ['that is repeated with another value', ['0', '3600'], false],
    ['that is repeated with the same value', ['0', '0'], false],
  ])('an overlap %s returns 400, and does not change the secret', async (_, overlap, atField) => {
    const { clientId, clientSecret } = await app.client(full)
    const before = written(app)
    const page = await reset(clientId, { overlap })
    expect(page.status).toBe(400)
    if (atField) {
      expect(page.wrong('overlap')).toBe(problems.overlapInvalid)
      expect(page.html).toMatch(/<details open>\s*<summary>[^<]*<\/summary>\s*<form[^>]*\/reset\/"/)
      expect(page.form(at.client(clientId), 'name').fields.name).toEqual(['Printer'])
    }
    expect(written(app)).toEqual(before)
    expect(await areValid(clientId, clientSecret)).toBe(true)
  })

  test('a second reset within the overlap invalidates the oldest secret', async () => {
    const { clientId, clientSecret } = await app.client(full)
    const second = await person.follow(await reset(clientId, { overlap: '3600' }))
    app.advance(11)
    const third = await person.follow(await reset(clientId, { overlap: '3600' }))
    const secrets = [second, third].map((page) => page.copied('client-secret') ?? '')
    expect(await areValid(clientId, clientSecret)).toBe(false)
    for (const secret of secrets) expect(await areValid(clientId, secret)).toBe(true)
  })

  test('returns 400 for a public client, which has no secret', async () => {
    const { clientId } = await app.client({ ...full, isConfidential: false })
    const before = written(app)
    const page = await person.post(at.reset(clientId))
    expect([page.status, page.alert]).toEqual([400, problems.other])
    expect(written(app)).toEqual(before)
  })

  test('does not affect the tokens of the client', async () => {
    const { clientId } = await app.client(full)
    const { accessToken } = await authorizationOf(app, clientId)
    await reset(clientId)
    expect(await statusOf(app, accessToken)).toBe(200)
  })
})

describe('deleting a client', () => {
  const remove = async (clientId: string, changes: Fields): Promise<Page> =>
    person.send(
      (await person.get(at.client(clientId))).form(at.client(clientId), 'delete'),
      changes,
    )

  test.each<[string, string | undefined]>([
    ['another name', 'Painter'],
    ['no confirm_name', undefined],
    ['an empty name', ''],
    ['the name in another case', 'printer ÀÉ'],
    ['a part of the name', 'Printer'],
    ['the client ID', 'id'],
    ['the name with another character', 'Printer ÀÉ!'],
    ['the name without its space', 'PrinterÀÉ'],
    ['a regular expression', '.*'],
  ])(
    'returns 400 with the form and does not delete the client if the form contains %s',
    async (_, confirm_name) => {
      const { clientId } = await app.client({ ...full, name: 'Printer ÀÉ' })
      const before = written(app)
      const page = await remove(clientId, {
        confirm_name: confirm_name === 'id' ? clientId : confirm_name,
      })
      expect(page.status).toBe(400)
      expect(page.wrong('confirm_name')).toBe(problems.confirmName)
      expect(page.html).toMatch(/<details class="danger" open>/)
      expect(page.form(at.client(clientId), 'name').fields.website).toEqual([full.website])
      expect(written(app)).toEqual(before)
    },
  )

  test.each<[string, string]>([
    ['as it is', 'Printer ÀÉ'],
    ['with spaces around it', '  Printer ÀÉ '],
    ['typed as letters and marks', 'Printer ÀÉ'.normalize('NFD')],
    ['with a space that looks the same', 'Printer\u00A0ÀÉ'],
    ['with a letter that cannot be seen', 'Printer\u200B ÀÉ'],
  ])('confirm_name %s: deletes the client with all dependent rows', async (_, confirm_name) => {
    const { clientId, clientSecret } = await app.client({ ...full, name: 'Printer ÀÉ' })
    const { accessToken } = await authorizationOf(app, clientId)
    const sent = await remove(clientId, { confirm_name })
    expect([sent.status, sent.location]).toEqual([303, at.list])
    const list = await person.follow(sent)
    expect(list.done).toBe(en.done.clientDeleted('Printer ÀÉ'))
    expect(list.html).not.toContain(clientId)
    expect(await app.server.clients.find(clientId)).toBeUndefined()
    expect(await statusOf(app, accessToken)).toBe(401)
    expect(await areValid(clientId, clientSecret)).toBe(false)
    expect((await person.get(at.client(clientId))).status).toBe(404)
    app.advance(11)
    expect((await person.post(at.client(clientId), { delete: 'yes', confirm_name })).status).toBe(
      404,
    )
  })

  test('requires the field delete=yes', async () => {
    const { clientId } = await app.client(full)
    const confirm_name = 'Printer'
    const { csrfToken } = person.session
    const query = `?${new URLSearchParams({ delete: 'yes', confirm_name, csrf_token: csrfToken })}`
    await person.get(`${at.client(clientId)}${query}`)
    await person.request(`${at.client(clientId)}${query}`, { method: 'HEAD' })
    await person.postRaw(`${at.client(clientId)}${query}`, {})
    for (const value of ['no', 'YES', 'true', '1', ['yes', 'yes'], ['yes', 'no'], 'yes\u0000'])
      expect((await person.post(at.client(clientId), { delete: value, confirm_name })).status).toBe(
        400,
      )
    const doubled = { delete: 'yes', confirm_name: [confirm_name, confirm_name] }
    expect((await person.post(at.client(clientId), doubled)).status).toBe(400)
    expect(await clientOf(app, clientId)).toMatchObject({ name: 'Printer' })
  })

  test('ignores the other fields of the form', async () => {
    const { clientId } = await app.client(full)
    await remove(clientId, { confirm_name: 'wrong', name: 'Renamed', website: '' })
    expect(await clientOf(app, clientId)).toMatchObject({ name: 'Printer', website: full.website })
  })
})

describe('the path of a client that the user may not manage', () => {
  const kinds: Record<string, () => Promise<string>> = {
    'a client of another user': async () => {
      const { user } = await Person.stranger(app)
      return (await app.client({ ...full, userId: user.id })).clientId
    },
    'a client without an owner': async () => (await app.client({ ...full, userId: null })).clientId,
    'an internal client of the user': async () =>
      (await app.client({ ...full, isInternal: true })).clientId,
    'the hidden client of a personal token': async () =>
      (await app.server.tokens.createPersonal('Printer', app.user.id)).clientId,
    'an unknown client ID': async () => 'absent',
    'the name of an object property': async () => 'constructor',
    'a client ID with an emoji': async () => '%F0%9F%98%80',
    'a long client ID': async () => 'x'.repeat(1_000),
  }

  test.each(Object.entries(kinds))('returns 404 for every method: %s', async (_, idOf) => {
    const clientId = await idOf()
    const before = written(app)
    const paths = [at.client(clientId), at.reset(clientId)]
    const fields = { name: 'Taken over', redirect_uris: 'https://evil.example' }
    const responses = [
      await person.get(at.client(clientId)),
      await person.request(at.client(clientId), { method: 'HEAD' }),
      await person.post(at.client(clientId), fields),
      await person.post(at.client(clientId), { delete: 'yes', confirm_name: 'Printer' }),
      await person.post(at.client(clientId), { delete: 'yes' }),
      await person.post(at.reset(clientId), { overlap: '3600' }),
      await person.post(at.reset(clientId), { overlap: 'x' }),
      // A rejected form must not reveal that the client exists.
      ...(await Promise.all(paths.map((path) => person.postRaw(path, fields)))),
    ]
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 404))
    for (const { html } of responses) {
      expect(html).not.toContain('Printer')
      expect(html).not.toContain('<form method="post" action="/account')
    }
    expect(written(app)).toEqual(before)
    expect((await person.get(at.list)).html).not.toContain(`/${clientId}/`)
  })

  test('returns 404 to an administrator, if the client belongs to another user', async () => {
    const admin = await Person.stranger(app, { isAdmin: true })
    const { clientId } = await app.client(full)
    expect((await admin.get(at.client(clientId))).status).toBe(404)
    expect((await admin.post(at.reset(clientId))).status).toBe(404)
  })

  test('returns 404 to the former owner, and shows the client to the new owner', async () => {
    const other = await Person.stranger(app)
    const { clientId } = await app.client(full)
    const page = await person.get(at.client(clientId))
    await app.server.clients.update(clientId, { userId: other.user.id })
    const form = page.form(at.client(clientId), 'name')
    expect((await person.send(form, { name: 'Mine' })).status).toBe(404)
    expect((await other.get(at.client(clientId))).status).toBe(200)
  })
})

describe('the page of a client', () => {
  test('shows the number of users of the client', async () => {
    const { clientId } = await app.client(full)
    await authorizationOf(app, clientId)
    await authorizationOf(app, clientId)
    expect((await person.get(at.client(clientId))).fact(en.facts.users)).toBe('2')
    expect((await person.get(at.list)).item(clientId)).toContain('Users</span> 2<')
  })

  test('contains a “try it” link that starts the flow, and a command that redeems the code', async () => {
    for (const isConfidential of [true, false]) {
      const uri = "https://client.example/cb?a='b'&c=$(d)"
      const { clientId, clientSecret } = await app.client({
        redirectUris: [uri, redirectUri],
        isConfidential,
        defaultScopes: ['notes:read'],
      })
      const page = await person.get(at.client(clientId))
      const href = unescaped(/href="([^"]*\/oauth\/authorize\?[^"]*)"/.exec(page.html)?.[1] ?? '')
      const target = await person.session.agent.authorize(app, href)
      expect(Object.fromEntries(target.searchParams)).toMatchObject({
        a: "'b'",
        c: '$(d)',
        state: 'try-it',
      })
      const command = (page.copied('try-it-curl') ?? '')
        .replace('CODE', target.searchParams.get('code') ?? '')
        .replace('SECRET', clientSecret)
      const { status, body } = await curl(command)
      expect([status, JSON.parse(body).scope]).toEqual([200, 'notes:read'])
    }
  })

  test('omits “try it” if the client cannot use the authorization code flow', async () => {
    for (const input of [{ grantTypes: [] }, { isConfidential: false, redirectUris: [] }]) {
      const { clientId } = await app.client(input)
      expect((await person.get(at.client(clientId))).copied('try-it-curl')).toBeUndefined()
    }
    const { clientId } = await app.client()
    await app.server.clients.mark(clientId, { isDisabled: true })
    const page = await person.get(at.client(clientId))
    expect(page.copied('try-it-curl')).toBeUndefined()
    expect(page.text).toContain(en.client.disabledAbout)
  })

  test('contains no digest and no sealed value', async () => {
    const { clientId, clientSecret } = await app.client(full)
    await app.server.clients.resetClientSecret(clientId, { overlap: 3_600 })
    const client = await clientOf(app, clientId)
    const { html } = await person.get(at.client(clientId))
    for (const text of [clientSecret, client.clientSecret, `${client.previousClientSecret}`])
      expect(html).not.toContain(text)
  })
})
