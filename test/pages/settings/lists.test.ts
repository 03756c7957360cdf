import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { authorizationOf, statusOf } from '../../support/tokens.ts'
import { Script } from '../api/script.ts'
import { at, type Page, Person, textOf } from './support.ts'

const day = 86_400

let app: TestServer
beforeAll(async () => {
  app = await startServer()
})
afterAll(() => app.close())

/** Creates personal tokens, one millisecond apart. */
const withTokens = async (
  person: Person,
  names: readonly string[],
  options: { readonly scopes?: readonly string[]; readonly expiresIn?: number } = {},
) => {
  const tokens = []
  for (const name of names) {
    tokens.push(await app.server.tokens.createPersonal(name, person.user.id, options))
    app.advance(0.001)
  }
  return tokens
}

const numbered = (count: number, name = 'Token'): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${name} ${index + 1}`)

const linkOf = (page: Page, rel: 'next' | 'prev'): string | undefined =>
  new RegExp(`<a class="button quiet" href="([^"]*)" rel="${rel}">`)
    .exec(page.html)?.[1]
    ?.replaceAll('&amp;', '&')

const countOn = (page: Page): string =>
  textOf(/<h2 id="list"[^>]*>([\s\S]*?)<\/h2>/.exec(page.html)?.[1] ?? '')

describe('the list of personal tokens', () => {
  test('has pages of 25 tokens, and links to the next and the previous page of the same search [T1205]', async () => {
    const person = await Person.stranger(app)
    await withTokens(person, [...numbered(60, 'Backup'), 'Other'])
    const pages = [await person.get(`${at.tokens}?q=backup&sort=oldest`)]
    for (let next = linkOf(pages[0] as Page, 'next'); next; ) {
      expect(next).toContain('q=backup&sort=oldest')
      expect(next).toMatch(/#list$/)
      const page = await person.get(next)
      pages.push(page)
      next = linkOf(page, 'next')
    }
    expect(pages.map(({ names }) => names.length)).toEqual([25, 25, 10])
    expect(pages.flatMap(({ names }) => names)).toEqual(numbered(60, 'Backup'))
    expect(pages.map(countOn)).toEqual(Array.from({ length: 3 }, () => '60 of 61 entries'))
    const back = await person.get(linkOf(pages[2] as Page, 'prev') ?? '')
    expect(back.names).toEqual(pages[1]?.names)
    const first = await person.get(linkOf(back, 'prev') ?? '')
    expect(first.names).toEqual(pages[0]?.names)
    expect(linkOf(first, 'prev')).toBeUndefined()
  })

  test('continues with the next token if tokens on earlier pages were deleted [T1206]', async () => {
    const person = await Person.stranger(app)
    const tokens = await withTokens(person, numbered(40))
    const first = await person.get(`${at.tokens}?sort=oldest`)
    for (const { id } of tokens.slice(0, 26)) await app.server.endedTokens.end(person.user.id, [id])
    const second = await person.get(linkOf(first, 'next') ?? '')
    expect(second.names).toEqual(numbered(40).slice(26))
    await app.server.endedTokens.end(
      person.user.id,
      tokens.slice(26).map(({ id }) => id),
    )
    expect((await person.get(linkOf(first, 'next') ?? '')).text).toContain(
      en.applications.tokens.none,
    )
  })

  test('sorts by name, expiry and last use, and filters by expiry, use and scope [T1207]', async () => {
    const person = await Person.stranger(app)
    await withTokens(person, ['Token 10', 'Token 9', 'alpha'], { scopes: ['notes:read'] })
    await withTokens(person, ['Soon'], { expiresIn: 3 * day, scopes: ['notes:write'] })
    await withTokens(person, ['Later'], { expiresIn: 30 * day })
    await withTokens(person, ['Gone'], { expiresIn: 1 })
    const [used] = await withTokens(person, ['Used'])
    app.advance(2)
    await statusOf(app, used?.accessToken ?? '')
    const names = async (query: string) => (await person.get(`${at.tokens}?${query}`)).names
    expect(await names('sort=name')).toEqual([
      'alpha',
      'Gone',
      'Later',
      'Soon',
      'Token 9',
      'Token 10',
      'Used',
    ])
    expect((await names('sort=expires')).slice(0, 3)).toEqual(['Gone', 'Soon', 'Later'])
    expect((await names('sort=used'))[0]).toBe('Used')
    expect((await names('sort=unused')).at(-1)).toBe('Used')
    expect(await names('filter=expired')).toEqual(['Gone'])
    expect(await names('filter=expiring')).toEqual(['Soon'])
    expect(await names('filter=no_expiry')).toEqual(['Used', 'alpha', 'Token 9', 'Token 10'])
    expect(await names('filter=never_used')).not.toContain('Used')
    expect(await names('scope=notes:write')).toEqual(['Soon'])
    expect(await names('q=TOKEN&scope=notes:read')).toEqual(['Token 9', 'Token 10'])
    expect((await names('sort=x&filter=y&scope=z&after=%00&before=x&from=x')).length).toBe(7)
    const soon = (await person.get(at.tokens)).item('Soon')
    expect(soon).toContain('badge care')
    expect(textOf(soon)).toContain(en.facts.expiresSoon('in 3 days'))
    expect(textOf((await person.get(at.tokens)).item('Gone'))).toContain(en.facts.expired)
  })

  test('shows the last four characters of each value, and no other part of the value [T1208]', async () => {
    const person = await Person.stranger(app)
    const [token] = await withTokens(person, ['Backup'])
    const value = token?.accessToken ?? ''
    const { html } = await person.get(at.tokens)
    expect(html).toContain(`>…${value.slice(-4)}</code>`)
    expect(html).not.toContain(value.slice(-5))
  })

  test('shows only tokens of the user, and no internal token', async () => {
    const [person, other] = [await Person.stranger(app), await Person.stranger(app)]
    await withTokens(other, ['Of another user'])
    await app.server.tokens.createPersonal('Internal', person.user.id, { isInternal: true })
    const page = await person.get(at.tokens)
    expect(page.names).toEqual([])
    expect(page.text).toContain(en.applications.tokens.none)
  })

  test('returns the same list as JSON, with the URLs of the other pages', async () => {
    const user = await app.newUser({ email: 'json@example.org' })
    const script = await Script.logIn(app, user)
    for (const name of numbered(30)) await app.server.tokens.createPersonal(name, user.id)
    interface List {
      readonly personal_tokens: readonly { readonly name: string }[]
      readonly count: number
      readonly previous: string | null
      readonly next: string | null
    }
    const first = (await script.get(`${at.tokens}?sort=name`)).body as List
    expect([first.personal_tokens.length, first.count, first.previous]).toEqual([25, 30, null])
    const second = (await script.get(first.next ?? '')).body as List
    expect(second.personal_tokens.map(({ name }) => name)).toEqual(numbered(30).slice(25))
    expect(((await script.get(second.previous ?? '')).body as List).personal_tokens).toEqual(
      first.personal_tokens,
    )
  })
})

const idPairs = (ids: readonly string[]) => ids.map((id): [string, string] => ['id', id])

describe('deleting or revoking selected entries', () => {
  test('asks for one confirmation, deletes exactly the selected tokens, and returns to the same search [T1209]', async () => {
    const person = await Person.stranger(app)
    const tokens = await withTokens(person, numbered(4))
    const ids = tokens.slice(1, 3).map(({ id }) => String(id))
    const query = new URLSearchParams([...idPairs(ids), ['back', '?q=token&x=y']])
    const asked = await person.get(`${at.selectedTokens}?${query}`)
    expect(asked.text).toContain('Delete 2 tokens?')
    for (const { accessToken } of tokens) expect(await statusOf(app, accessToken)).toBe(200)
    const sent = await person.send(asked.form(at.selectedTokens))
    expect([sent.status, sent.location]).toEqual([303, `${at.tokens}?q=token`])
    const list = await person.follow(sent)
    expect(list.done).toBe('2 tokens were deleted.')
    expect(list.names).toEqual(['Token 4', 'Token 1'])
    const statuses = await Promise.all(tokens.map(({ accessToken }) => statusOf(app, accessToken)))
    expect(statuses).toEqual([200, 401, 401, 200])
  })

  test('deletes nothing of another user, and nothing without a selection', async () => {
    const [person, other] = [await Person.stranger(app), await Person.stranger(app)]
    const [theirs] = await withTokens(other, ['Theirs'])
    const id = String(theirs?.id)
    expect((await person.get(`${at.selectedTokens}?id=${id}`)).text).toContain(en.list.selectedNone)
    await person.post(at.selectedTokens, { id: [id, '0', 'x', '999999'] })
    expect(await statusOf(app, theirs?.accessToken ?? '')).toBe(200)
    expect((await person.post(at.selectedTokens, { id: [] })).status).toBe(400)
    expect((await person.get(at.selectedTokens)).forms.map(({ action }) => action)).toEqual([
      '/logout',
    ])
  })

  test('revokes the selected applications on all devices [T1210]', async () => {
    const person = await Person.stranger(app)
    const asPerson = { ...app, user: person.user } as TestServer
    const made = []
    for (const name of ['One', 'Two', 'Three']) {
      const { clientId } = await app.client({ name })
      made.push({ clientId, ...(await authorizationOf(asPerson, clientId)) })
    }
    const ids = made.slice(0, 2).map(({ clientId }) => clientId)
    const query = new URLSearchParams(idPairs(ids))
    const asked = await person.get(`${at.selectedApplications}?${query}`)
    expect(asked.text).toContain('Revoke 2 applications?')
    const list = await person.follow(await person.send(asked.form(at.selectedApplications)))
    expect(list.done).toBe('2 applications can no longer act for you.')
    expect(list.names).toEqual(['Three'])
    const again = await person.post(at.selectedApplications, { id: ids })
    expect((await person.follow(again)).done).toContain('0 applications')
  })
})

describe('undoing a deletion', () => {
  const deleted = async (options: object = {}) => {
    const person = await Person.stranger(app)
    const token = await app.server.tokens.createPersonal('Backup', person.user.id, {
      scopes: ['notes:read'],
      ...options,
    })
    await statusOf(app, token.accessToken)
    const sent = await person.post(at.token(token.id), { delete: 'yes', back: '?q=b' })
    expect(sent.location).toBe(`${at.tokens}?q=b`)
    return { person, token, page: await person.follow(sent) }
  }

  test('restores within ten seconds a token that was rejected immediately after the deletion [T1211]', async () => {
    const { person, token, page } = await deleted({ expiresIn: 90 * day })
    expect(await statusOf(app, token.accessToken)).toBe(401)
    expect(page.done).toBe(en.done.tokenDeleted('Backup'))
    app.advance(9.9)
    const form = page.form(at.undo)
    const restored = await person.follow(await person.send(form))
    expect(restored.done).toBe('1 token is valid again.')
    expect(await statusOf(app, token.accessToken)).toBe(200)
    const found = await app.server.personalTokens.find(person.user.id, token.id)
    expect(found?.token).toMatchObject({
      scopes: ['notes:read'],
      expires: token.expires,
      createdAt: token.createdAt,
    })
    expect(found?.lastUse?.address).toBe('127.0.0.1')
    // A second submission of the form has the same result, and does not restore the token twice.
    expect((await person.send(form)).status).toBe(303)
    expect((await person.get(at.tokens)).names).toEqual(['Backup'])
  })

  test('is rejected after ten seconds, and for another user [T1212]', async () => {
    const { person, token, page } = await deleted()
    const other = await Person.stranger(app)
    const { undo = [] } = page.form(at.undo).fields
    expect((await other.post(at.undo, { undo })).status).toBe(400)
    app.advance(13)
    const late = await person.send(page.form(at.undo))
    expect([late.status, late.alert]).toEqual([400, en.problems.undoTooLate])
    expect((await person.post(at.undo, { undo: 'x' })).status).toBe(400)
    expect((await person.post(at.undo, {})).status).toBe(400)
    expect(await statusOf(app, token.accessToken)).toBe(401)
  })

  test('restores a former value that was still valid', async () => {
    const person = await Person.stranger(app)
    const { id, accessToken } = await app.server.tokens.createPersonal('Backup', person.user.id)
    await app.server.personalTokens.rotate(id, { overlap: 3_600 })
    const sent = await person.post(at.token(id), { delete: 'yes', back: '' })
    expect(await statusOf(app, accessToken)).toBe(401)
    await person.send((await person.follow(sent)).form(at.undo))
    expect(await statusOf(app, accessToken)).toBe(200)
    await person.post(at.token(id), { name: 'Backup', end_former: 'yes' })
    expect(await statusOf(app, accessToken)).toBe(401)
  })

  test('keeps the restored tokens when the rows of the deleted clients are removed', async () => {
    const { person, token, page } = await deleted()
    await person.send(page.form(at.undo))
    app.advance(3_600)
    await app.server.sweep()
    expect(await statusOf(app, token.accessToken)).toBe(200)
  })

  test('is rejected if it would exceed the maximum number of tokens, and can be repeated afterwards', async () => {
    await using strict = await startServer({ personalTokensPerUser: 1 })
    const person = await Person.logIn(strict)
    const { id } = await strict.server.tokens.createPersonal('First', strict.user.id)
    const page = await person.follow(await person.post(at.token(id), { delete: 'yes', back: '' }))
    const second = await strict.server.tokens.createPersonal('Second', strict.user.id)
    const refused = await person.send(page.form(at.undo))
    expect([refused.status, refused.alert]).toEqual([400, en.problems.tooManyPersonalTokens(1)])
    await strict.server.endedTokens.end(strict.user.id, [second.id])
    expect((await person.send(page.form(at.undo))).status).toBe(303)
    expect((await person.get(at.tokens)).names).toEqual(['First'])
  })
})

describe('changing the expiry and the scopes of a token', () => {
  const created = async (options: object = {}, on = app) => {
    const person = await Person.stranger(on)
    const token = await on.server.tokens.createPersonal('Backup', person.user.id, {
      scopes: ['notes:read', 'notes:write', 'user:email'],
      expiresIn: 10 * day,
      ...options,
    })
    const found = async () => {
      const managed = await on.server.personalTokens.find(person.user.id, token.id)
      if (!managed) throw new Error('There is no such token.')
      return managed
    }
    const send = async (changes: Record<string, string>) =>
      person.send((await person.get(at.token(token.id))).form(at.token(token.id), 'name'), changes)
    return { person, token, found, send }
  }

  test('sets another expiry, or removes the expiry; by default, the expiry remains unchanged [T1213]', async () => {
    const { token, found, send } = await created()
    const expiry = async () => (await found()).token.expires
    await send({ name: 'Renamed' })
    expect(await expiry()).toBe(token.expires)
    await send({ expiry: '30' })
    expect(await expiry()).toBe(app.now() + 30 * day * 1000)
    await send({ expires: '2027-01-31', time_zone: 'Asia/Tokyo' })
    expect(await expiry()).toBe(Date.parse('2027-01-31T14:59:59Z'))
    await send({ expiry: 'never' })
    expect(await expiry()).toBeNull()
    expect(await statusOf(app, token.accessToken)).toBe(200)
  })

  test('cannot revive an expired token', async () => {
    const { person, token, send } = await created({ expiresIn: 60 })
    app.advance(61)
    const refused = await send({ expiry: '30' })
    expect(refused.status).toBe(400)
    expect(refused.alert).toContain(en.problems.expiredForGood)
    expect(await statusOf(app, token.accessToken)).toBe(401)
    expect((await person.get(at.token(token.id))).html).not.toContain('name="expiry"')
  })

  test('counts the maximum lifetime from the creation of the value [T1214]', async () => {
    await using strict = await startServer({ tokenPersonalMaxExpiresIn: 30 * day })
    const { person, token, found, send } = await created({}, strict)
    strict.advance(day / 2)
    for (const expiry of ['30', 'never'])
      expect((await person.post(at.token(token.id), { name: 'x', expiry })).status).toBe(400)
    expect((await send({ expiry: '7' })).status).toBe(303)
    expect((await found()).token.expires).toBe(strict.now() + 7 * day * 1000)
  })

  test('does not let a former value outlive the new expiry', async () => {
    const { token, send } = await created()
    await app.server.personalTokens.rotate(token.id, { overlap: 9 * day })
    await send({ expiry: '7' })
    app.advance(8 * day)
    expect(await statusOf(app, token.accessToken)).toBe(401)
  })

  test('suggests to keep only the scopes that guards required, and removes the other scopes [T1215]', async () => {
    const { person, token, found } = await created()
    const notes = (method: string) =>
      fetch(`${app.issuer}/api/notes`, {
        method,
        headers: {
          authorization: `Bearer ${token.accessToken}`,
          'content-type': 'application/json',
        },
        ...(method === 'POST' && { body: '{"text":"x"}' }),
      })
    const page = () => person.get(at.token(token.id))
    expect((await page()).html).not.toContain('name="reduce"')
    await statusOf(app, token.accessToken)
    expect((await page()).html).not.toContain('name="reduce"')
    expect((await notes('GET')).status).toBe(200)
    const shown = await page()
    expect(shown.text).toContain('only notes:read of 3')
    await person.send(shown.form(at.token(token.id), 'reduce'))
    expect((await found()).token.scopes).toEqual(['notes:read'])
    expect((await page()).html).not.toContain('name="reduce"')
    expect([(await notes('GET')).status, (await notes('POST')).status]).toEqual([200, 403])
  })

  test('a link fills in the form of a new token, and creates nothing [T1216]', async () => {
    const person = await Person.stranger(app)
    const query = 'name=Nightly+backup&scopes=notes:read%20test:scope%20x:y&expires_in=7'
    const page = await person.get(`${at.newToken}?${query}`)
    const { name, scopes, expiry } = page.form(at.newToken).fields
    expect({ name, scopes, expiry }).toEqual({
      name: ['Nightly backup'],
      scopes: ['notes:read'],
      expiry: ['7'],
    })
    expect(page.text).toContain(en.token.prefilled)
    expect((await person.get(at.newToken)).text).not.toContain(en.token.prefilled)
    expect((await person.get(at.tokens)).names).toEqual([])
    const strange = `${at.newToken}?name=${'x'.repeat(3_000)}&name=y&scopes=&expires_in=1e9`
    expect((await person.get(strange)).status).toBe(200)
  })
})

test('the root of the settings leads to the overview [T1217]', async () => {
  const person = await Person.stranger(app)
  const page = await person.get('/account/settings/')
  expect([page.status, page.location]).toEqual([303, at.list])
})
