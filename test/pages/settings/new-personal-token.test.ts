import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Scope } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { count } from '../../support/database.ts'
import { hostileTexts, skeleton } from '../../support/html.ts'
import { startServer, type TestOptions, type TestServer, testScopes } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { statusOf } from '../../support/tokens.ts'
import { Contract } from '../api/contract.ts'
import { savedFields, values } from '../api/form-values.ts'
import { at, curl, type Fields, idIn, type Page, Person } from './support.ts'

const { problems } = en
const howTo = readFileSync(resolve(import.meta.dirname, '../../../docs/how-to/pages.md'), 'utf8')
const day = 86_400
/** The current day of the test clock. */
const today = '2026-11-21'

let app: TestServer
let person: Person
beforeAll(async () => {
  app = await startServer({ scopes: [...testScopes, new Scope('plain')] })
  person = await Person.logIn(app)
})
afterAll(() => app.close())

const create = (changes: Fields, as = person): Promise<Page> => as.fill(at.newToken, changes)

const valueOn = (page: Page): string | undefined => page.copied('access-token')

/** Creates a token with the form. Returns the token, its value and the page. */
const created = async (changes: Fields, as = person) => {
  const sent = await create({ name: 'Laptop', ...changes }, as)
  expect(sent.status).toBe(303)
  const id = idIn(sent.location)
  expect(sent.location).toBe(at.token(id))
  const page = await as.follow(sent)
  const managed = await as.app.server.personalTokens.find(as.user.id, Number(id))
  if (!managed) throw new Error('There is no such token.')
  return { ...managed, id, page, value: valueOn(page) ?? '' }
}

const refused = async (changes: Fields, as = person): Promise<Page> => {
  const tables = ['oauth2server_token', 'oauth2server_client']
  const before = tables.map((table) => count(as.app.database, table))
  const page = await create({ name: 'Laptop', ...changes }, as)
  expect([page.status, page.location]).toEqual([400, null])
  expect(tables.map((table) => count(as.app.database, table))).toEqual(before)
  return page
}

describe('creating a personal token', () => {
  test('lists the scopes with their help texts by group, but no internal scope', async () => {
    const { html } = await person.get(at.newToken)
    const groups = [
      ...html.matchAll(
        /<fieldset class="group">\s*<legend>([^<]*)<\/legend>([\s\S]*?)<\/fieldset>/g,
      ),
    ]
    const shown = groups.map(([, heading, boxes = '']) => [
      heading,
      ...[...boxes.matchAll(/name="scopes" value="([^"]*)"/g)].map(([, id]) => id),
    ])
    expect(shown).toEqual([
      ['Notes', 'notes:read', 'notes:write'],
      [en.facts.otherGroup, 'plain'],
      ['User', 'user:email'],
    ])
    for (const scope of testScopes) expect(html.includes(scope.helpText)).toBe(!scope.isInternal)
    expect(html).not.toContain('test:scope')
    expect(html).not.toMatch(/name="scopes"[^>]* checked/)
  })

  test('offers no scope of OpenID Connect, except one that the token already has [T1910]', async () => {
    await using server = await startServer({ openidConnect: true })
    const user = await Person.logIn(server)
    const offered = ({ html }: Page) =>
      [...html.matchAll(/name="scopes" value="([^"]*)"/g)].map(([, id]) => id)
    const plain = ['notes:read', 'notes:write', 'user:email']
    expect(offered(await user.get(at.newToken))).toEqual(plain)
    const { id } = await server.server.tokens.createPersonal('Old', user.user.id, {
      scopes: ['email'],
    })
    expect(offered(await user.get(at.token(String(id)))).sort()).toEqual(['email', ...plain])
  })

  test.each(['2026-99-99', '2026-11-21'])(
    'rejects the unknown scope %s, which looks like a date, and repeats it unchanged in the error [T1911]',
    async (scope) => {
      const page = await refused({ scopes: [scope] })
      expect(page.html).toContain(scope)
    },
  )

  test('requires only a name, and by default creates a token without scopes that expires after 90 days [T1200]', async () => {
    const { token, name, value, lastUse } = await created({ name: '  Läptop ' })
    expect(name).toBe('Läptop')
    expect(token).toMatchObject({
      userId: app.user.id,
      scopes: [],
      expires: app.now() + 90 * day * 1000,
      isPersonal: true,
      isInternal: false,
      authorizationId: null,
    })
    expect(lastUse).toBeNull()
    expect(value).toMatch(/^[A-Za-z0-9]{60}$/)
    expect(await app.server.clients.find(token.clientId)).toMatchObject({
      name: 'Läptop',
      isInternal: true,
      isConfidential: false,
      isPersonal: true,
      userId: app.user.id,
    })
  })

  test('a link can fill in every field, and a document shows such a link [T3031]', async () => {
    const fields = savedFields(await Contract.of(app), 'NewPersonalToken')
    // A day in a link would be in the past soon, so a link contains a number of days.
    const linked = fields.map((name) => (name === 'expires' ? 'expires_in' : name))
    const [, example = ''] = /`…\/applications\/tokens\/new\/\?([^`]+)`/.exec(howTo) ?? []
    expect([...new URLSearchParams(example).keys()].sort()).toEqual([...linked].sort())
    for (const name of linked.filter((one) => one !== 'expires_in')) {
      const value = [values[name]].flat().map(String)
      const page = await person.get(
        `${at.newToken}?${new URLSearchParams({ [name]: value.join(' ') })}`,
      )
      const form = page.form(at.newToken, 'name')
      expect([name, form.fields[name]]).toEqual([name, value])
      expect(page.text).toContain(en.token.prefilled)
    }
    const later = await person.get(`${at.newToken}?expires_in=7`)
    expect(later.form(at.newToken, 'name').fields.expiry).toEqual(['7'])
  })

  test('grants exactly the ticked scopes [T661]', async () => {
    const { value, token } = await created({ scopes: ['notes:read', 'plain'] })
    expect(token.scopes).toEqual(['notes:read', 'plain'])
    const info = await fetch(`${app.issuer}/oauth/info`, {
      headers: { authorization: `Bearer ${value}` },
    })
    expect(await info.json()).toEqual({
      user: { id: app.user.id },
      client: null,
      scopes: ['notes:read', 'plain'],
    })
  })

  test('removes repeated and empty scopes', async () => {
    expect((await created({ scopes: ['plain', 'plain'] })).token.scopes).toEqual(['plain'])
    expect((await created({ scopes: ['', ''] })).token.scopes).toEqual([])
  })

  test.each<[string, readonly string[] | string, wrong: string]>([
    ['an internal scope', 'test:scope', 'test:scope'],
    ['an internal scope among other scopes', ['notes:read', 'test:scope'], 'test:scope'],
    ['an unknown scope', 'rw:all', 'rw:all'],
    ['several scopes in one value', 'notes:read plain', 'notes:read plain'],
    ['a scope in another case', 'NOTES:READ', 'NOTES:READ'],
    ['a scope followed by a space', 'plain ', 'plain'],
    ['the name of an object property', 'constructor', 'constructor'],
    ['markup', '<b>x</b>', '<b>x</b>'],
  ])(
    'SC-01 returns 400 with the form and stores nothing for a scope that the form does not offer: %s',
    async (_, scopes, wrong) => {
      const page = await refused({ scopes, expires: '2027-01-31' })
      expect(page.wrong('scopes')?.replaceAll(/\s+/g, ' ')).toBe(
        problems.scopeUnknown(wrong).replaceAll(/\s+/g, ' '),
      )
      const { fields } = page.form(at.newToken)
      expect(fields).toMatchObject({ name: ['Laptop'], expires: ['2027-01-31'] })
      expect(fields.scopes ?? []).toEqual([scopes].flat().filter((scope) => scope === 'notes:read'))
    },
  )

  test.each<[string, string | undefined, sentence: string]>([
    ['a missing name', undefined, problems.nameMissing],
    ['an empty name', '', problems.nameMissing],
    ['a name of spaces', ' \u2003 ', problems.nameMissing],
    ['a name of 41 characters', 'x'.repeat(41), problems.nameTooLong(40)],
    ['a name with a bidirectional mark', 'a\u200Eb', problems.unseenCharacter],
    ['a name with a null character', 'a\u0000', problems.unseenCharacter],
  ])('returns 400 with the typed values and stores nothing for %s', async (_, name, sentence) => {
    const page = await refused({ name, scopes: ['plain'], expires: '2027-01-31' })
    expect(page.wrong('name')).toBe(sentence)
    expect(page.alert).toContain(sentence)
    expect(page.form(at.newToken).fields).toMatchObject({
      name: [name ?? ''],
      scopes: ['plain'],
      expires: ['2027-01-31'],
    })
    const sent = await person.send(page.form(at.newToken), { name: 'Corrected' })
    expect((await person.follow(sent)).title).toContain('Corrected')
  })

  test('ignores fields that the form does not have', async () => {
    const other = await Person.stranger(app)
    const { token, value } = await created({
      user_id: String(other.user.id),
      is_internal: 'true',
      is_personal: 'false',
      access_token: 'mine',
      client_id: 'mine',
      expires_in: '1',
      id: '1',
    })
    expect(token).toMatchObject({
      userId: app.user.id,
      isInternal: false,
      isPersonal: true,
      expires: app.now() + 90 * day * 1000,
    })
    expect(value).not.toContain('mine')
  })

  test.each(hostileTexts)('XS-01 every page escapes the name %s', async (text) => {
    const owner = await Person.stranger(app)
    const name = [...text].slice(0, 40).join('')
    const wrong = await create({ name, scopes: text, expires: text }, owner)
    expect(wrong.status).toBe(400)
    expect(wrong.form(at.newToken).fields).toMatchObject({ name: [name], expires: [text] })
    const harmless = await created({ name: 'x' }, owner)
    const { page, id } = await created({ name }, owner)
    expect(skeleton(page.html)).toEqual(skeleton(harmless.page.html))
    expect(page.title.startsWith(`${name} · `)).toBe(true)
    const list = await owner.get(at.list)
    expect(list.item(name.trim().replaceAll(/\s+/g, ' '))).toContain(`href="${at.token(id)}"`)
  })
})

describe('the expiry', () => {
  const dayAfter = (days: number): string =>
    new Date(Date.parse(today) + days * day * 1000).toISOString().slice(0, 10)

  test('may be any day from the current day', async () => {
    const { html } = await person.get(at.newToken)
    const field = /<input id="expires"[^>]*>/.exec(html)?.[0] ?? ''
    expect(field).toContain(` min="${dayAfter(0)}"`)
    expect(field).not.toContain(' max=')
  })

  test.each<[string, string, days: number]>([
    ['with the current day', dayAfter(0), 1],
    ['with the next day', dayAfter(1), 2],
    ['with a leap day', '2028-02-29', (Date.parse('2028-03-01') - Date.parse(today)) / day / 1000],
    ['with a day in nine years', dayAfter(9 * 365), 9 * 365 + 1],
  ])('%s, is the last second of the day in UTC', async (_, expires, days) => {
    const { token, page } = await created({ expires })
    const end = Date.parse(today) + days * day * 1000 - 1000
    expect(token.expires).toBe(end)
    expect(page.html).toContain(`<time datetime="${new Date(end).toISOString()}"`)
  })

  test('is missing if the user chooses a token without expiry', async () => {
    const { token, page } = await created({ expiry: 'never' })
    expect(token.expires).toBeNull()
    expect(page.fact(en.facts.expires)).toBe(en.facts.never)
  })

  test.each(['7', '30', '90'])(
    'is after %s days if the user chooses this period [T1201]',
    async (days) => {
      const { token } = await created({ expiry: days })
      expect(token.expires).toBe(app.now() + Number(days) * day * 1000)
    },
  )

  test.each([
    ['Asia/Tokyo', '14:59:59'],
    ['America/New_York', '04:59:59'],
    ['Pacific/Kiritimati', '09:59:59'],
    ['nowhere', '23:59:59'],
    ['x'.repeat(1000), '23:59:59'],
  ])('is the end of the chosen day in the time zone %s [T1202]', async (time_zone, time) => {
    const { token } = await created({ expires: '2027-01-31', time_zone })
    const expires = new Date(token.expires ?? 0)
    expect(expires.toISOString()).toContain(`T${time}`)
    const timeZone = time === '23:59:59' ? 'UTC' : time_zone
    expect(expires.toLocaleDateString('en-CA', { timeZone })).toBe('2027-01-31')
  })

  test('invalidates the token exactly at the last second of the day', async () => {
    await using own = await startServer()
    const owner = await Person.logIn(own)
    own.advance(day / 2)
    const { value, id } = await created({ expires: today }, owner)
    own.advance(day / 2 - 2)
    expect(await statusOf(own, value)).toBe(200)
    own.advance(1)
    expect(await statusOf(own, value)).toBe(401)
    const page = await owner.get(at.token(id))
    expect(page.text).toContain(en.token.expiredAbout)
    expect((await owner.get(at.list)).item('Laptop')).toContain(en.facts.expired)
  })

  test.each<[string, string, keyof typeof problems]>([
    ['the previous day', dayAfter(-1), 'expiresInPast'],
    ['a day in the year 1', '0001-01-01', 'expiresInPast'],
    ['an invalid day', '2027-02-30', 'expiresInvalid'],
    ['an invalid month', '2027-13-01', 'expiresInvalid'],
    ['a leap day in another year', '2027-02-29', 'expiresInvalid'],
    ['a word', 'tomorrow', 'expiresInvalid'],
    ['a number', '3600', 'expiresInvalid'],
    ['a day in another format', '31.01.2027', 'expiresInvalid'],
    ['a year of two digits', '27-01-31', 'expiresInvalid'],
    ['a year of five digits', '12027-01-31', 'expiresInvalid'],
    ['a day after a space', ' 2027-01-31', 'expiresInvalid'],
    ['a day in Arabic digits', '٢٠٢٧-٠١-٣١', 'expiresInvalid'],
    ['a negative year', '-2027-01-31', 'expiresInvalid'],
  ])(
    'cannot be %s: returns 400 with the typed values, and stores nothing',
    async (_, expires, problem) => {
      const page = await refused({ expires, scopes: ['plain'] })
      expect(page.wrong('expires')).toBe(problems[problem])
      expect(page.form(at.newToken).fields).toMatchObject({
        name: ['Laptop'],
        expires: [expires],
        scopes: ['plain'],
      })
    },
  )

  test('cannot be more than ten years later: returns 400 with the typed day', async () => {
    for (const expires of [dayAfter(11 * 365), '9999-12-31']) {
      const page = await refused({ expires })
      expect(page.wrong('expires')).toBeDefined()
      expect(page.form(at.newToken).fields.expires).toEqual([expires])
    }
  })

  describe('with the setting tokenPersonalMaxExpiresIn', () => {
    const most: TestOptions = { tokenPersonalMaxExpiresIn: 30 * day }
    let strict: TestServer
    let owner: Person
    beforeAll(async () => {
      strict = await startServer(most)
      strict.advance(day / 2)
      owner = await Person.logIn(strict)
    })
    afterAll(() => strict.close())

    test('must be a day within the maximum lifetime', async () => {
      const field = /<input id="expires"[^>]*>/.exec((await owner.get(at.newToken)).html)?.[0]
      expect(field).toContain(` min="${dayAfter(0)}" max="${dayAfter(30)}"`)
    })

    test('is the maximum lifetime without a choice, and cannot be avoided', async () => {
      expect((await created({}, owner)).token.expires).toBe(strict.now() + 30 * day * 1000)
      for (const fields of [
        { expiry: 'never' },
        { expiry: '90' },
        { expiry: '9999' },
        { expiry: 'day' },
        { expiry: 'x' },
      ])
        await refused(fields, owner)
    })

    test.each<[string, string, keyof typeof problems]>([
      ['the day after the latest day', dayAfter(31), 'expiresTooLate'],
      ['a day years later', '2036-01-01', 'expiresTooLate'],
      ['the last day of the year 9999', '9999-12-31', 'expiresTooLate'],
      ['yesterday', dayAfter(-1), 'expiresInPast'],
      ['a word', 'never', 'expiresInvalid'],
    ])('cannot be %s: returns 400, and stores nothing', async (_, expires, problem) => {
      const page = await refused({ expires }, owner)
      const text = problems[problem]
      const latest = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' })
      const sentence =
        typeof text === 'function' ? text(latest.format(new Date(dayAfter(30))) as never) : text
      expect(page.wrong('expires')).toBe(sentence)
      expect(page.form(at.newToken).fields.expires).toEqual([expires ?? ''])
    })

    test('may be the latest day, but the token does not exceed the maximum lifetime', async () => {
      const { token } = await created({ expires: dayAfter(30) }, owner)
      expect(token.expires).toBe(strict.now() + 30 * day * 1000)
      const shorter = await created({ expires: dayAfter(29) }, owner)
      expect(shorter.token.expires).toBe(Date.parse(dayAfter(30)) - 1000)
    })
  })
})

describe('the page of a new personal token', () => {
  test('shows the value once after the redirect, with a curl command that works unchanged [T662]', async () => {
    const { page, value, id } = await created({ scopes: ['notes:read'] })
    expect(page.done).toBe(en.done.tokenCreated)
    expect(page.text).toContain(en.token.once)
    expect(await statusOf(app, value)).toBe(200)
    const command = page.copied('curl') ?? ''
    expect(command).toContain(value)
    expect(await curl(command)).toEqual({ status: 200, body: '{"ping":"pong"}' })
    expect(page.html.split(value)).toHaveLength(3)
    for (const again of [await person.get(at.token(id)), await person.get(at.list)]) {
      expect(again.html).not.toContain(value)
      expect(valueOn(again)).toBeUndefined()
      expect(again.done).toBe('')
    }
  })

  test('shows a curl command that also works for a server under a path', async () => {
    await using below = await startServer({ basePath: '/auth', oauthPrefix: '/o' })
    const owner = await Person.logIn(below)
    const page = await owner.fill('/auth/account/settings/applications/tokens/new/', { name: 'x' })
    const shown = await owner.follow(page)
    expect(await curl(shown.copied('curl') ?? '')).toEqual({ status: 200, body: '{"ping":"pong"}' })
  })

  test('shows the value only for this token, and only in the session that created the token', async () => {
    const other = await Person.logIn(app)
    const first = await create({ name: 'First' })
    const second = await create({ name: 'Second' })
    expect(valueOn(await other.follow(first))).toBeUndefined()
    const values = [valueOn(await person.follow(second)), valueOn(await person.follow(first))]
    const infos = await Promise.all(
      values.map((accessToken = '') => app.server.getToken({ accessToken })),
    )
    expect(infos.map((found) => String(found?.token.id))).toEqual([
      idIn(second.location),
      idIn(first.location),
    ])
  })

  test('shows the value although HEAD requests and rejected forms came first', async () => {
    const sent = await create({ name: 'Laptop' })
    const path = sent.location ?? ''
    expect((await person.request(path, { method: 'HEAD' })).html).toBe('')
    for (const page of [
      await person.post(path, { name: '' }),
      await person.postRaw(path, { name: 'x' }),
      await person.post(at.rotate(idIn(path)), { overlap: 'x' }),
    ]) {
      expect([400, 403]).toContain(page.status)
      expect(valueOn(page)).toBeUndefined()
    }
    expect(valueOn(await person.follow(sent))).toMatch(/^\w{60}$/)
  })

  test('does not show the value after five minutes, but the user can still rotate the token', async () => {
    const sent = await create({ name: 'Laptop' })
    app.advance(300)
    expect(valueOn(await person.follow(sent))).toBeUndefined()
    const page = await person.get(sent.location ?? '')
    const rotated = await person.send(page.form(at.rotate(idIn(sent.location))))
    expect(valueOn(await person.follow(rotated))).toMatch(/^\w{60}$/)
  })

  test('shows a value that the log does not contain', async () => {
    const { value, id } = await created({ name: 'Quiet' })
    await person.get(at.token(id))
    expect(JSON.stringify(app.log)).not.toContain(value)
  })
})

describe('with the setting tokenPersonalPrefix', () => {
  test('a new value has the prefix and a checksum, and a value with a wrong checksum is rejected', async () => {
    await using own = await startServer({ tokenPersonalPrefix: 'notes_' })
    const owner = await Person.logIn(own)
    const { value, page, id } = await created({ scopes: ['notes:read'] }, owner)
    expect(value).toMatch(/^notes_[A-Za-z0-9]{66}$/)
    expect(await statusOf(own, value)).toBe(200)
    expect((await curl(page.copied('curl') ?? '')).status).toBe(200)
    expect(await statusOf(own, `${value.slice(0, -1)}${value.endsWith('a') ? 'b' : 'a'}`)).toBe(401)
    const rotated = await owner.send((await owner.get(at.token(id))).form(at.rotate(id)))
    expect(valueOn(await owner.follow(rotated))).toMatch(/^notes_[A-Za-z0-9]{66}$/)
  })
})
