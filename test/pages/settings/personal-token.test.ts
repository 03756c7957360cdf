import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { query } from '../../support/database.ts'
import { startServer, type TestServer, testScopes } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { authorizationOf, statusOf } from '../../support/tokens.ts'
import { written } from '../api/script.ts'
import { at, type Fields, type Page, Person } from './support.ts'

const { problems } = en

let app: TestServer
let person: Person
beforeAll(async () => {
  app = await startServer()
  person = await Person.logIn(app)
})
afterAll(() => app.close())

const newToken = (
  scopes: readonly string[] = ['notes:read'],
  { name = 'Laptop', ...options }: { name?: string; isInternal?: boolean; expiresIn?: number } = {},
) => app.server.tokens.createPersonal(name, app.user.id, { scopes, ...options })

const found = async (id: number) => {
  const managed = await app.server.personalTokens.find(app.user.id, id)
  if (!managed) throw new Error(`There is no token ${id}.`)
  return managed
}

/** Calls the API with the token. Returns the status of the response. */
const call = async (path: string, token: string, init: RequestInit = {}): Promise<number> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(`${app.issuer}${path}`, { ...init, headers })
  await response.body?.cancel()
  return response.status
}

const notes = (token: string): Promise<number> => call('/api/notes', token)
const newNote = (token: string): Promise<number> =>
  call('/api/notes', token, { method: 'POST', body: '{"text":"x"}' })

const valueOn = (page: Page): string => page.copied('access-token') ?? ''

describe('the form of a personal token', () => {
  test('contains the name and the scopes of the token, but not the value', async () => {
    const { id, accessToken } = await newToken(['notes:read', 'user:email'])
    const page = await person.get(at.token(id))
    expect(page.status).toBe(200)
    const { csrf_token, form_id, version, ...fields } = page.form(at.token(id), 'name').fields
    expect(fields).toEqual({
      name: ['Laptop'],
      scopes: ['notes:read', 'user:email'],
      expiry: ['keep'],
      expires: [''],
      time_zone: [''],
    })
    expect(page.html).not.toContain(accessToken)
    expect(page.html).not.toContain('test:scope')
    expect(page.fact(en.facts.lastUsed)).toBe(en.facts.neverUsed)
  })

  test('changes the name of the token and of its hidden client', async () => {
    const { id, accessToken, clientId } = await newToken()
    const sent = await person.fill(at.token(id), { name: ' Tablet ' })
    expect([sent.status, sent.location]).toEqual([303, at.token(id)])
    const page = await person.follow(sent)
    expect([page.done, page.copied('access-token')]).toEqual([en.done.tokenSaved, undefined])
    expect((await found(id)).name).toBe('Tablet')
    expect((await app.server.clients.find(clientId))?.name).toBe('Tablet')
    expect((await person.get(at.list)).item('Tablet')).toContain(at.token(id))
    expect(await notes(accessToken)).toBe(200)
  })

  test('adds and removes scopes, with effect from the next API call', async () => {
    const { id, accessToken } = await newToken(['notes:read'])
    expect([await notes(accessToken), await newNote(accessToken)]).toEqual([200, 403])
    await person.fill(at.token(id), { scopes: ['notes:read', 'notes:write'] })
    expect([await notes(accessToken), await newNote(accessToken)]).toEqual([200, 201])
    await person.fill(at.token(id), { scopes: 'notes:write' })
    expect([await notes(accessToken), await newNote(accessToken)]).toEqual([403, 201])
    await person.fill(at.token(id), { scopes: undefined })
    expect([await notes(accessToken), await newNote(accessToken)]).toEqual([403, 403])
    expect(await statusOf(app, accessToken)).toBe(200)
    expect((await found(id)).token.scopes).toEqual([])
  })

  test('changes scopes with effect from the next API call at another node', async () => {
    await using beside = await startServer({ beside: app })
    const { id, accessToken } = await newToken(['notes:read'])
    const there = async () => {
      const headers = { authorization: `Bearer ${accessToken}` }
      return (await fetch(`${beside.issuer}/api/notes`, { headers })).status
    }
    expect(await there()).toBe(200)
    await person.fill(at.token(id), { scopes: 'notes:write' })
    expect(await there()).toBe(403)
  })

  test('SC-01 neither shows nor removes an internal scope that application code granted', async () => {
    const { id, accessToken } = await newToken(['notes:read', 'test:scope'])
    const page = await person.get(at.token(id))
    expect(page.form(at.token(id), 'name').fields.scopes).toEqual(['notes:read'])
    expect(page.html).not.toContain('test:scope')
    await person.fill(at.token(id), { name: 'Renamed', scopes: 'notes:write' })
    expect((await found(id)).token.scopes).toEqual(['notes:write', 'test:scope'])
    expect(await statusOf(app, accessToken)).toBe(200)
    await person.fill(at.token(id), { scopes: undefined })
    expect((await found(id)).token.scopes).toEqual(['test:scope'])
    expect((await person.get(at.list)).html).not.toContain('test:scope')
  })

  test('removes a scope that is no longer registered, without an error', async () => {
    const { id } = await newToken(['notes:read', 'notes:write'])
    const scopes = testScopes.filter((scope) => scope.id !== 'notes:write')
    await using later = await startServer({ beside: app, scopes })
    const owner = await Person.logIn(later)
    expect((await owner.fill(at.token(id), { name: 'Saved' })).status).toBe(303)
    expect((await found(id)).token.scopes).toEqual(['notes:read'])
  })

  test.each<[string, Fields, field: string | undefined, sentence: string]>([
    ['an empty name', { name: '' }, 'name', problems.nameMissing],
    ['a missing name', { name: undefined }, undefined, problems.nameMissing],
    ['a long name', { name: 'x'.repeat(41) }, 'name', problems.nameTooLong(40)],
    [
      'a name with a bidirectional override',
      { name: 'a\u202Eb' },
      'name',
      problems.unseenCharacter,
    ],
    ['an internal scope', { scopes: 'test:scope' }, 'scopes', problems.scopeUnknown('test:scope')],
    ['an unknown scope', { scopes: ['notes:read', 'x'] }, 'scopes', problems.scopeUnknown('x')],
    ['a repeated name', { name: ['a', 'b'] }, undefined, ''],
  ])('returns 400 and changes nothing for %s', async (_, changes, field, sentence) => {
    const { id, accessToken } = await newToken()
    const before = written(app)
    const typed = { name: 'Typed', scopes: ['user:email'], ...changes }
    const page = await person.fill(at.token(id), typed)
    expect(page.status).toBe(400)
    expect(page.alert).toContain(sentence)
    if (field !== undefined) {
      expect(page.wrong(field)).toBe(sentence)
      expect(page.form(at.token(id), 'name').fields.name).toEqual([typed.name])
    }
    if (field === 'name')
      expect(page.form(at.token(id), 'name').fields.scopes).toEqual(['user:email'])
    expect(written(app)).toEqual(before)
    expect(await notes(accessToken)).toBe(200)
  })

  test('ignores submitted fields that it does not have', async () => {
    const { id } = await newToken([], { expiresIn: 3_600 })
    const { token } = await found(id)
    await person.fill(at.token(id), {
      expires_in: '999999',
      user_id: '2',
      is_internal: 'true',
      id: '1',
      access_token: 'mine',
    })
    expect({ ...(await found(id)).token }).toEqual({ ...token })
  })
})

describe('rotating a personal token', () => {
  const rotate = async (id: number, changes: Fields = {}): Promise<Page> =>
    person.send((await person.get(at.token(id))).form(at.rotate(id)), changes)

  test.each<[string, Fields, seconds: number]>([
    ['in the unchanged form', {}, 0],
    ['that is missing', { overlap: undefined }, 0],
    ['of 0 s', { overlap: '0' }, 0],
    ['of an hour', { overlap: '3600' }, 3_600],
    ['of a week', { overlap: '604800' }, 604_800],
  ])(
    'with an overlap %s, the former value remains valid during the overlap',
    async (_, changes, seconds) => {
      await using own = await startServer()
      const owner = await Person.logIn(own)
      const { id, accessToken } = await own.server.tokens.createPersonal('Laptop', own.user.id, {
        scopes: ['notes:read'],
      })
      const sent = await owner.send((await owner.get(at.token(id))).form(at.rotate(id)), changes)
      expect([sent.status, sent.location]).toEqual([303, at.token(id)])
      const page = await owner.follow(sent)
      expect(page.done).toBe(en.done.tokenRotated)
      const value = valueOn(page)
      expect(value).toMatch(/^\w{60}$/)
      expect(value).not.toBe(accessToken)
      expect(page.html.includes('class="notice caution"')).toBe(seconds > 0)
      expect(await statusOf(own, value)).toBe(200)
      expect(await statusOf(own, accessToken)).toBe(seconds > 0 ? 200 : 401)
      expect(valueOn(await owner.follow(sent))).toBe('')
      own.advance(Math.max(seconds - 1, 0))
      expect(await statusOf(own, accessToken)).toBe(seconds > 0 ? 200 : 401)
      own.advance(1)
      expect(await statusOf(own, accessToken)).toBe(401)
      expect(await statusOf(own, value)).toBe(200)
    },
  )

  test.each<[string, string | readonly string[]]>([
    ['that is a word', 'week'],
    ['that is negative', '-1'],
    ['that is a fraction', '1.5'],
    ['with an exponent', '1e3'],
    ['in Arabic digits', '١٢'],
    ['that exceeds 30 days by a second', '2592001'],
    ['of 20 digits', '9'.repeat(20)],
    ['that is repeated', ['0', '3600']],
  ])('an overlap %s returns 400, and does not change the value', async (_, overlap) => {
    const { id, accessToken } = await newToken()
    const before = written(app)
    const page = await rotate(id, { overlap })
    expect(page.status).toBe(400)
    if (typeof overlap === 'string') {
      expect(page.wrong('overlap')).toBe(problems.overlapInvalid)
      expect(page.form(at.token(id), 'name').fields.name).toEqual(['Laptop'])
    }
    expect(written(app)).toEqual(before)
    expect(await statusOf(app, accessToken)).toBe(200)
  })

  test('does not change name, scopes and lifetime, and a later edit applies to both values', async () => {
    const options = { name: 'Rotated', expiresIn: 86_400 }
    const { id, accessToken } = await newToken(['notes:read'], options)
    const value = valueOn(await person.follow(await rotate(id, { overlap: '3600' })))
    const { name, token, previousExpires } = await found(id)
    expect([name, token.scopes]).toEqual(['Rotated', ['notes:read']])
    expect(token.expires).toBe(app.now() + 86_400_000)
    expect(previousExpires).toBe(app.now() + 3_600_000)
    await person.fill(at.token(id), { scopes: 'notes:write' })
    for (const each of [accessToken, value]) expect(await notes(each)).toBe(403)
    expect((await person.get(at.list)).names.filter((name) => name === 'Rotated')).toHaveLength(1)
  })

  test('decision §4.5 is rejected for a token with an internal scope, which only application code may grant', async () => {
    const { id, accessToken } = await newToken(['notes:read', 'test:scope'])
    const before = written(app)
    const page = await rotate(id, { overlap: '3600' })
    expect([page.status, page.alert]).toEqual([400, problems.notRotatable])
    expect(page.html).not.toContain('test:scope')
    expect(written(app)).toEqual(before)
    expect(await statusOf(app, accessToken)).toBe(200)
  })

  test('limits the lifetime of the new value to a maximum lifetime that was configured later', async () => {
    const { id } = await newToken()
    await using strict = await startServer({ beside: app, tokenPersonalMaxExpiresIn: 86_400 })
    const owner = await Person.logIn(strict)
    await owner.send((await owner.get(at.token(id))).form(at.rotate(id)))
    expect((await found(id)).token.expires).toBe(app.now() + 86_400_000)
  })

  test('deleting the token within the overlap invalidates both values', async () => {
    const { id, accessToken } = await newToken()
    const value = valueOn(await person.follow(await rotate(id, { overlap: '3600' })))
    await person.send((await person.get(at.token(id))).form(at.token(id), 'delete'))
    for (const each of [accessToken, value]) expect(await statusOf(app, each)).toBe(401)
  })
})

describe('deleting a personal token', () => {
  test('invalidates the token immediately, and deletes the token and its hidden client [T736]', async () => {
    const { id, accessToken, clientId } = await newToken(['notes:read'], { name: 'To be deleted' })
    const page = await person.get(at.token(id))
    const sent = await person.send(page.form(at.token(id), 'delete'))
    expect([sent.status, sent.location]).toEqual([303, at.tokens])
    const list = await person.follow(sent)
    expect(list.done).toBe(en.done.tokenDeleted('To be deleted'))
    expect(list.names).not.toContain('To be deleted')
    expect(await statusOf(app, accessToken)).toBe(401)
    expect((await person.get(at.token(id))).status).toBe(404)
    expect((await person.send(page.form(at.token(id), 'name'))).status).toBe(404)
    expect((await person.send(page.form(at.rotate(id)))).status).toBe(404)
    expect(await app.server.clients.find(clientId)).toBeUndefined()
  })

  test('requires the field delete=yes in the form', async () => {
    const { id, accessToken } = await newToken()
    const given = new URLSearchParams({ delete: 'yes', csrf_token: person.session.csrfToken })
    await person.get(`${at.token(id)}?${given}`)
    await person.postRaw(`${at.token(id)}?${given}`, {})
    await person.postRaw(at.token(id), { delete: 'yes' })
    for (const value of ['no', 'YES', '1', '', ['yes', 'yes']])
      expect((await person.post(at.token(id), { delete: value })).status).toBe(400)
    expect(await statusOf(app, accessToken)).toBe(200)
  })
})

describe('the last use of a personal token', () => {
  test('is recorded immediately, but at most once a minute', async () => {
    await using own = await startServer()
    const owner = await Person.logIn(own)
    const { id, accessToken } = await own.server.tokens.createPersonal('Laptop', own.user.id)
    own.advance(90)
    await statusOf(own, accessToken)
    const shown = async () => {
      const pages = [
        (await owner.get(at.token(id))).html,
        (await owner.get(at.list)).item('Laptop'),
      ]
      for (const html of pages) expect(html).toContain(en.facts.from('127.0.0.1'))
      return pages.map((html) => /<time datetime="([^"]*)" data-time="minute"/.exec(html)?.[1])
    }
    const first = new Date(own.now()).toISOString()
    expect(await shown()).toEqual([first, first])
    own.advance(30)
    await statusOf(own, accessToken)
    expect(await shown()).toEqual([first, first])
    own.advance(31)
    await statusOf(own, accessToken)
    const later = new Date(own.now()).toISOString()
    expect(await shown()).toEqual([later, later])
  })
})

describe('the path of a personal token that the user may not manage', () => {
  const kinds: Record<string, () => Promise<number | string>> = {
    'a token of another user': async () => {
      const { user } = await Person.stranger(app)
      return (await app.server.tokens.createPersonal('Laptop', user.id)).id
    },
    'an internal token of the user': async () => (await newToken([], { isInternal: true })).id,
    'a token of an application of the user': async () => {
      const { clientId } = await app.client()
      return (await authorizationOf(app, clientId)).token.id
    },
    'the former value of a rotated token': async () => {
      const { id, clientKey } = await newToken()
      await app.server.personalTokens.rotate(id, { overlap: 3_600 })
      const [row] = query<{ id: number }>(
        app.database,
        'select id from oauth2server_token where client_key = ? and successor_id is not null',
        clientKey,
      )
      return row?.id ?? 0
    },
    'an unknown token': async () => 999_999,
  }
  for (const id of [
    '0',
    '-1',
    '1e3',
    '1.0',
    '01',
    '+1',
    '0x1',
    '%201',
    '1%20',
    '1%00',
    '1%0a',
    '1;',
    '1,2',
    '١',
    '１',
    '999999999999999',
    '99999999999999999999',
    'NaN',
    'null',
    'new%20',
    'x'.repeat(3_000),
    '%E2%80%8B1',
  ])
    kinds[`the ID ${decodeURIComponent(id).slice(0, 30)}`] = async () => id

  test.each(Object.entries(kinds))('returns 404 for GET, HEAD and POST: %s', async (_, idOf) => {
    await newToken()
    const id = await idOf()
    const before = written(app)
    const fields = { name: 'Taken over', scopes: 'notes:write' }
    const responses = [
      await person.get(at.token(id)),
      await person.request(at.token(id), { method: 'HEAD' }),
      await person.post(at.token(id), fields),
      await person.post(at.token(id), { delete: 'yes' }),
      await person.post(at.rotate(id)),
      await person.post(at.rotate(id), { overlap: 'x' }),
      await person.postRaw(at.token(id), fields),
      await person.postRaw(at.rotate(id), {}),
    ]
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 404))
    for (const { html } of responses)
      expect(html).not.toContain('<form method="post" action="/account')
    expect(written(app)).toEqual(before)
    expect((await person.get(at.list)).html).not.toContain(`"${at.token(id)}"`)
  })

  test('the paths of authorized applications return 404 for the ID of a personal token', async () => {
    const { id, clientId, accessToken } = await newToken()
    expect((await person.get(at.view(id))).status).toBe(404)
    expect((await person.post(at.revoke(id))).status).toBe(404)
    expect((await person.post(at.revokeApplication(clientId))).status).toBe(404)
    expect((await person.post(at.revokeAll)).status).toBe(303)
    expect(await statusOf(app, accessToken)).toBe(200)
  })
})
