import type { ClientInput } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hostileTexts, skeleton } from '../../support/html.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { authorizationOf, statusOf } from '../../support/tokens.ts'
import { TestClient, type TokenBody } from '../../support/user-agent.ts'
import { written } from '../api/script.ts'
import { at, Person, textOf } from './support.ts'

const chrome =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'
const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0'

let app: TestServer
beforeAll(async () => {
  app = await startServer()
})
afterAll(() => app.close())

let users = 0

/** Creates a user who is logged in with two browsers. */
const newUser = async (): Promise<{ laptop: Person; desktop: Person }> => {
  users += 1
  const user = await app.newUser({ email: `owner-${users}@example.org` })
  const logIn = (userAgent: string) =>
    Person.logIn(app, { user, headers: { 'user-agent': userAgent } })
  return { laptop: await logIn(chrome), desktop: await logIn(firefox) }
}

/** Returns a copy of the client that uses the browser of the given person. */
const inBrowser = (client: TestClient, { session }: Person): TestClient =>
  new TestClient(app, session.agent, client, client.clientSecret === '' ? 'none' : 'basic')

/** Registers an application, which the user authorizes in both browsers. */
const newApplication = async (
  { laptop, desktop }: { laptop: Person; desktop: Person },
  input: Partial<ClientInput> = {},
) => {
  const onLaptop = await TestClient.register(app, laptop.session.agent, { name: 'Diary', ...input })
  const onDesktop = inBrowser(onLaptop, desktop)
  const first = await onLaptop.tokens({ scope: 'notes:read' })
  const second = await onDesktop.tokens({ scope: 'notes:read' })
  const devices = await devicesOf(laptop, onLaptop.clientId)
  return { onLaptop, onDesktop, clientId: onLaptop.clientId, first, second, devices }
}

/** Returns the IDs of the devices of an application from the links on the page, latest first. */
const devicesOf = async (person: Person, clientId: string): Promise<readonly string[]> => {
  const item = (await person.get(at.list)).items.find((html) =>
    html.includes(`"${at.revokeApplication(clientId)}"`),
  )
  return [...(item ?? '').matchAll(/href="[^"]*\/tokens\/(\d+)\/view\/"/g)].map(([, id = '']) => id)
}

const live = async (tokens: readonly TokenBody[]): Promise<readonly boolean[]> =>
  Promise.all(tokens.map(async ({ access_token }) => (await statusOf(app, access_token)) === 200))

describe('applications that the user authorized', () => {
  test('filters the applications by scope and by use, and sorts them by use [T2152]', async () => {
    const both = await newUser()
    const register = (name: string) => TestClient.register(app, both.laptop.session.agent, { name })
    const used = await (await register('Used')).tokens({ scope: 'notes:read' })
    await (await register('Unused')).tokens({ scope: 'notes:read' })
    await (await register('Writer')).tokens({ scope: 'notes:read notes:write' })
    await statusOf(app, used.access_token)
    const names = async (query: string) =>
      (await both.laptop.get(`${at.authorized}?${query}`)).names
    expect(await names('filter=never_used')).toEqual(['Unused', 'Writer'])
    expect(await names('scope=notes:write')).toEqual(['Writer'])
    expect(await names('scope=notes:read&filter=never_used&q=unused')).toEqual(['Unused'])
    expect((await names('sort=used'))[0]).toBe('Used')
    expect((await names('sort=unused')).at(-1)).toBe('Used')
    expect(await names('scope=unknown')).toHaveLength(3)
  })

  test('are listed with their scopes, date, owner, website and devices [T734]', async () => {
    const user = await newUser()
    const { clientId, devices } = await newApplication(user, {
      website: 'https://diary.example',
    })
    const item = (await user.laptop.get(at.list)).item('Diary')
    const text = textOf(item)
    expect(text).toContain('notes:read')
    expect(text).toContain(app.user.email)
    expect(text).toContain('https://diary.example')
    expect(text).toContain(en.applications.authorized.devices(2))
    expect(item).toContain('<time datetime="2026-11-21T00:00:00.000Z" data-time="day">')
    expect(devices).toHaveLength(2)
    const names = [...item.matchAll(/<a href="[^"]*\/view\/"><bdi>([^<]*)<\/bdi>/g)].map(
      ([, n]) => n,
    )
    expect(names).toEqual(['Firefox, Windows', 'Chrome, Linux'])
    expect(item).not.toContain(clientId.repeat(2))
  })

  test('are listed with the beginning of their description [T2053]', async () => {
    const user = await newUser()
    const description = `Prints ${'your notes '.repeat(40)}`.trim()
    await newApplication(user, { description })
    const page = await user.laptop.get(at.list)
    expect(textOf(page.item('Diary'))).toContain(description.slice(0, 140))
    expect(page.text).not.toContain(description.slice(0, 150))
  })

  test('are listed with the time and the IP address of their last use', async () => {
    const user = await newUser()
    const { first } = await newApplication(user)
    const before = textOf((await user.laptop.get(at.list)).item('Diary'))
    expect(before).toContain(en.facts.neverUsed)
    expect(before).not.toContain(en.facts.from('127.0.0.1'))
    app.advance(60)
    const at0 = new Date(app.now()).toISOString()
    await statusOf(app, first.access_token)
    const after = (await user.laptop.get(at.list)).item('Diary')
    // The page contains the time twice: for the application, and for the device that used the token.
    expect(after.split(`<time datetime="${at0}" data-time="minute">`)).toHaveLength(3)
    expect(textOf(after)).toContain(en.facts.from('127.0.0.1'))
    expect(textOf(after)).toContain(en.facts.neverUsed)
  })

  test('are listed once for each user who authorized them', async () => {
    const [user, other] = [await newUser(), await newUser()]
    const { clientId, onLaptop } = await newApplication(user)
    expect((await other.laptop.get(at.list)).html).not.toContain(clientId)
    await inBrowser(onLaptop, other.laptop).tokens()
    expect(await devicesOf(other.laptop, clientId)).toHaveLength(1)
    expect(await devicesOf(user.laptop, clientId)).toHaveLength(2)
    expect((await user.laptop.get(at.list)).names).toEqual(['Diary'])
  })

  test('do not include personal tokens or clients that act on their own behalf', async () => {
    const owner = await Person.stranger(app)
    const { clientId, clientSecret } = await app.client({ userId: owner.user.id, name: 'Machine' })
    await app.server.tokens.createPersonal('Laptop', owner.user.id)
    const machine = new TestClient(
      app,
      owner.session.agent,
      { clientId, clientSecret, redirectUri: '' },
      'basic',
    )
    expect((await machine.token({ grant_type: 'client_credentials' })).status).toBe(200)
    const { html } = await owner.get(at.list)
    expect(html).not.toContain('/revoke/"')
    expect(html).not.toContain('/view/')
  })

  test('are listed without devices whose tokens have expired', async () => {
    const user = await newUser()
    const { clientId } = await newApplication(user, { name: 'Ends' })
    await app.server.consents.find(user.laptop.user.id, clientId)
    app.advance(2_592_000 + 61)
    const later = await Person.logIn(app, { user: user.laptop.user })
    expect(await devicesOf(later, clientId)).toEqual([])
  })

  test('are listed with the text "Verified" if an administrator verified the application', async () => {
    const user = await newUser()
    const { clientId } = await newApplication(user)
    expect((await user.laptop.get(at.list)).item('Diary')).not.toContain(en.facts.verified)
    await app.server.clients.mark(clientId, { isVerified: true })
    expect((await user.laptop.get(at.list)).item('Diary')).toContain(en.facts.verified)
  })

  test('XS-01 are listed with escaped names and owners', async () => {
    const user = await newUser()
    const { clientId, devices } = await newApplication(user)
    const shown = async (name: string) => {
      await app.server.clients.update(clientId, { name })
      const [list, view] = [
        await user.laptop.get(at.list),
        await user.laptop.get(at.view(devices[0] ?? '')),
      ]
      return { list, parts: [list, view].map(({ html }) => skeleton(html)) }
    }
    const harmless = await shown('x')
    for (const text of hostileTexts) {
      const name = [...text].slice(0, 40).join('')
      const { list, parts } = await shown(name)
      expect(parts, text).toEqual(harmless.parts)
      expect(list.names).toEqual([name.replaceAll(/\s+/g, ' ').trim()])
    }
  })

  test('are listed with escaped user agents', async () => {
    const user = await app.newUser({ email: 'odd@example.org' })
    const headers = { 'user-agent': 'Mozilla/5.0 <script>alert(1)</script> Chrome/"><b>' }
    const person = await Person.logIn(app, { user, headers })
    await (await TestClient.register(app, person.session.agent, { name: 'x' })).tokens()
    const page = await person.get(at.list)
    expect(page.html).not.toMatch(/<script>|<b>/)
  })
})

describe('the page of one authorization', () => {
  test('shows the scopes with help texts, the device, and the expiry', async () => {
    const user = await newUser()
    const { devices, clientId } = await newApplication(user, { website: 'https://diary.example' })
    const page = await user.desktop.get(at.view(devices[1] ?? ''))
    expect(page.status).toBe(200)
    expect(page.text).toContain('Read your notes notes:read')
    expect(page.fact(en.authorization.device)).toBe('Chrome, Linux')
    expect(page.fact(en.facts.clientId)).toBe(clientId)
    expect(page.fact(en.facts.owner)).toBe(app.user.email)
    expect(page.fact(en.facts.website)).toBe('https://diary.example/')
    expect(page.fact(en.facts.lastUsed)).toBe(en.facts.neverUsed)
    const ends = new Date(app.now() + 2_592_000_000).toISOString()
    expect(page.html).toContain(`<dd><time datetime="${ends}" data-time="minute">`)
    expect(page.forms.map(({ action }) => action)).toEqual([
      at.revoke(devices[1] ?? ''),
      at.revokeApplication(clientId),
      '/logout',
    ])
  })
})

describe('revoking authorizations', () => {
  test('revoking a device invalidates only the tokens of this device', async () => {
    const user = await newUser()
    const { devices, clientId, first, second, onLaptop } = await newApplication(user)
    const page = await user.desktop.get(at.view(devices[1] ?? ''))
    const sent = await user.desktop.send(page.form(at.revoke(devices[1] ?? '')))
    expect([sent.status, sent.location]).toEqual([303, at.list])
    expect((await user.desktop.follow(sent)).done).toBe(en.done.deviceRevoked('Diary'))
    expect(await live([first, second])).toEqual([false, true])
    expect((await onLaptop.refresh(first.refresh_token)).status).toBe(400)
    expect(await devicesOf(user.desktop, clientId)).toEqual([devices[0]])
    expect((await user.desktop.get(at.view(devices[1] ?? ''))).status).toBe(404)
    app.advance(11)
    expect((await user.desktop.post(at.revoke(devices[1] ?? ''))).status).toBe(404)
  })

  test('revoking an application invalidates its tokens, its codes and the consent on all devices [T735]', async () => {
    const user = await newUser()
    const other = await newUser()
    const { clientId, first, second, onLaptop, onDesktop } = await newApplication(user)
    const theirs = await inBrowser(onLaptop, other.laptop).tokens()
    const personal = await app.server.tokens.createPersonal('Laptop', user.laptop.user.id)
    const code = await onDesktop.code({ scope: 'notes:read' })
    const list = await user.laptop.get(at.list)
    const sent = await user.laptop.send(list.form(at.revokeApplication(clientId)))
    expect([sent.status, sent.location]).toEqual([303, at.list])
    const after = await user.laptop.follow(sent)
    expect(after.done).toBe(en.done.revoked('Diary'))
    expect(after.names).toEqual(['Laptop'])
    expect(await live([first, second, theirs])).toEqual([false, false, true])
    expect(await statusOf(app, personal.accessToken)).toBe(200)
    const redeemed = await onDesktop.redeem(code)
    expect([redeemed.status, redeemed.body.error]).toEqual([400, 'invalid_grant'])
    // The application must request consent again.
    const again = await user.laptop.session.agent.fetch(onLaptop.url({ scope: 'notes:read' }))
    expect(again.status).toBe(200)
    expect(await again.text()).toContain('name="authorization_request"')
  })

  test('revoking all applications does not affect personal tokens or other users', async () => {
    const [user, other] = [await newUser(), await newUser()]
    const one = await newApplication(user)
    const two = await newApplication(user, { name: 'Second' })
    const theirs = await newApplication(other)
    const personal = await app.server.tokens.createPersonal('Laptop', user.laptop.user.id)
    const code = await two.onLaptop.code({ scope: 'notes:read' })
    const list = await user.laptop.get(at.authorized)
    const sent = await user.laptop.send(list.form(at.revokeAll))
    const after = await user.laptop.follow(sent)
    expect(after.done).toBe(en.done.revokedAll)
    expect(after.names).toEqual(['Laptop'])
    expect(await live([one.first, one.second, two.first, two.second])).toEqual([
      false,
      false,
      false,
      false,
    ])
    expect(await live([theirs.first, theirs.second])).toEqual([true, true])
    expect(await statusOf(app, personal.accessToken)).toBe(200)
    expect((await two.onLaptop.redeem(code)).status).toBe(400)
  })

  test('the user can revoke an application again after authorizing it again', async () => {
    const user = await newUser()
    const { clientId, onLaptop } = await newApplication(user)
    // Revoking again, shortly after a new authorization, is a new request and has an effect.
    for (let round = 0; round < 3; round += 1) {
      const list = await user.laptop.get(at.list)
      const sent = await user.laptop.send(list.form(at.revokeApplication(clientId)))
      expect((await user.laptop.follow(sent)).done).toBe(en.done.revoked('Diary'))
      expect(await devicesOf(user.laptop, clientId)).toEqual([])
      await onLaptop.tokens({ scope: 'notes:read' })
      expect(await devicesOf(user.laptop, clientId)).toHaveLength(1)
    }
  })

  test('revoking an object of another user or an unknown object returns 404', async () => {
    const [user, other] = [await newUser(), await newUser()]
    const { clientId, devices, first, second } = await newApplication(user)
    const own = await newApplication(other, { name: 'Own' })
    const { clientId: unused } = await app.client({ userId: other.laptop.user.id })
    const before = written(app)
    const ids = [...devices, '999999', '0', '-1', '1e3', '99999999999999999999', '١', 'x']
    for (const id of ids) {
      expect((await other.laptop.get(at.view(id))).status, id).toBe(404)
      expect((await other.laptop.request(at.view(id), { method: 'HEAD' })).status, id).toBe(404)
      expect((await other.laptop.post(at.revoke(id))).status, id).toBe(404)
    }
    for (const id of [clientId, unused, 'absent', 'constructor', '%00', '%F0%9F%98%80'])
      expect((await other.laptop.post(at.revokeApplication(id))).status, id).toBe(404)
    expect(written(app)).toEqual(before)
    expect(await live([first, second, own.first, own.second])).toEqual([true, true, true, true])
  })

  test('the user can revoke an authorization, but the owner of the application cannot', async () => {
    const user = await newUser()
    const owner = await Person.logIn(app)
    const { clientId, devices, first } = await newApplication(user)
    expect((await owner.get(at.view(devices[0] ?? ''))).status).toBe(404)
    expect((await owner.post(at.revoke(devices[0] ?? ''))).status).toBe(404)
    expect((await owner.get(at.client(clientId))).status).toBe(200)
    expect(await live([first])).toEqual([true])
  })

  test('revoking an application without tokens deletes the consent', async () => {
    const user = await newUser()
    const { clientId } = await app.client({ name: 'Only agreed' })
    await app.server.consents.grant(user.laptop.user.id, clientId, ['notes:read'])
    const list = await user.laptop.get(at.list)
    expect(textOf(list.item('Only agreed'))).toContain('notes:read')
    await user.laptop.send(list.form(at.revokeApplication(clientId)))
    expect((await user.laptop.get(at.list)).names).toEqual([])
  })
})

describe('long lists of authorized applications', () => {
  test('are divided into pages, contain each application once, and link to the first page', async () => {
    const person = await Person.stranger(app)
    const userId = person.user.id
    for (let index = 0; index < 30; index += 1) {
      const { clientId } = await app.client({ name: `App ${index}`, userId })
      await app.server.tokens.createPersonal(`Token ${index}`, userId)
      await app.server.consents.grant(userId, clientId, [])
    }
    const next = (html: string, list: string): string | undefined =>
      /<a class="button quiet" href="([^"]*)" rel="next">/
        .exec(html.split(`<h2 id="${list}">`)[1]?.split('</section>')[0] ?? '')?.[1]
        ?.replaceAll('&amp;', '&')
    const first = await person.get(at.list)
    expect(first.names).toHaveLength(24)
    let page = first
    for (const list of ['clients', 'tokens', 'authorized'])
      page = await person.get(next(page.html, list) ?? '')
    expect(page.status).toBe(200)
    const names = new Set([...first.names, ...page.names])
    expect(page.names).toHaveLength(24)
    for (let pages = 2; pages < 4; pages += 1) {
      for (const list of ['clients', 'tokens', 'authorized'])
        page = await person.get(next(page.html, list) ?? '')
      for (const name of page.names) names.add(name)
    }
    expect(page.names).toHaveLength(18)
    expect(names.size).toBe(60)
    for (const list of ['clients', 'tokens', 'authorized'])
      expect(next(page.html, list)).toBeUndefined()
    expect(page.html.match(/<nav class="paging"/g)).toHaveLength(3)
    expect(page.html).toContain(`<a class="button quiet" href="${at.list}?`)
  })

  test('contain the number of devices that are not shown', async () => {
    const person = await Person.stranger(app)
    const { clientId } = await app.client({ name: 'Everywhere' })
    const asPerson = { ...app, user: person.user } as TestServer
    for (let index = 0; index < 23; index += 1) await authorizationOf(asPerson, clientId)
    const item = (await person.get(at.list)).item('Everywhere')
    expect(item.match(/\/view\//g)).toHaveLength(10)
    expect(textOf(item)).toContain(en.applications.authorized.moreDevices(13))
    expect(textOf(item)).toContain(en.applications.authorized.devices(23))
  })
})
