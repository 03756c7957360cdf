import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { Contract } from './contract.ts'
import { admin, applications, Script, sessions } from './script.ts'

let app: TestServer
let script: Script
let administrator: Script
beforeAll(async () => {
  app = await startServer()
  script = await Script.logIn(app)
  const email = 'admin@example.org'
  administrator = await Script.logIn(app, await app.newUser({ email, isAdmin: true }))
})
afterAll(() => app.close())

const newClient = async (name = 'Printer'): Promise<Record<string, string>> =>
  (await script.post(`${applications}/clients/new/`, { name })).body as Record<string, string>

describe('lists', () => {
  test('have pages of 25 items with the URL of the next page', async () => {
    await using other = await startServer({ basePath: '/auth' })
    const reader = await Script.logIn(other)
    const at = `/auth${applications}/`
    for (let n = 0; n < 60; n += 1) {
      await other.client({ name: `Application ${n}` })
      if (n < 30) await other.server.tokens.createPersonal(`Token ${n}`, other.user.id)
    }
    type Next = Readonly<Record<'clients' | 'personal_tokens' | 'authorized', string | null>>
    interface List {
      readonly clients: readonly { readonly name: string }[]
      readonly personal_tokens: readonly { readonly name: string }[]
      readonly next: Next
    }
    const contract = await Contract.of(other)
    const read = async (path: string): Promise<List> => {
      const response = await reader.get(path)
      expect(contract.differences(contract.operation('listApplications'), response)).toEqual([])
      return response.body as List
    }
    const names: string[] = []
    const sizes: number[] = []
    for (let path: string | null = `${at}?access_token=x&ui_locales=de`; path !== null; ) {
      const list: List = await read(path)
      names.push(...list.clients.map(({ name }) => name))
      sizes.push(list.clients.length)
      expect(list.personal_tokens).toHaveLength(25)
      expect(list.next.authorized).toBeNull()
      path = list.next.clients
      expect(path ?? at).toMatch(/^\/auth\/account\/settings\/applications\/(?:\?|$)/)
      expect(path ?? '').not.toContain('access_token')
    }
    expect(sizes).toEqual([25, 25, 10])
    expect(new Set(names).size).toBe(60)

    const { next } = await read(at)
    const second = await read(next.personal_tokens ?? '')
    expect([second.personal_tokens.length, second.clients.length]).toEqual([5, 25])
    expect(second.next.personal_tokens).toBeNull()
    for (const strange of [
      'x',
      '-1',
      '1.%00',
      '',
      '99999999999999999999.x',
      '1.x&clients_after=2.x',
    ])
      expect((await read(`${at}?clients_after=${strange}`)).clients.length).toBeLessThanOrEqual(25)
  })

  test('have pages of search results for administrators', async () => {
    for (let n = 0; n < 30; n += 1) await newClient(`Searched ${n}`)
    interface List {
      readonly clients: readonly { readonly name: string }[]
      readonly next: { readonly clients: string | null }
    }
    const first = (await administrator.get(`${admin}?client=searched`)).body as List
    const second = (await administrator.get(first.next.clients ?? '')).body as List
    const found = [...first.clients, ...second.clients].map(({ name }) => name)
    expect(new Set(found).size).toBe(30)
    expect(found.every((name) => name.startsWith('Searched'))).toBe(true)
    expect(second.next.clients).toBeNull()
  })
})

describe('administration', () => {
  test('records operations of administrators, and lists the recorded operations', async () => {
    const { client_id } = await newClient('Judged')
    for (const act of ['verify', 'unverify', 'disable', 'enable'])
      expect((await administrator.post(admin, { client_id, act })).body).toEqual({})
    const last = { client_id, act: 'delete', confirm_name: 'Judged' }
    expect((await administrator.post(admin, last)).status).toBe(200)
    const { body } = await administrator.get(`/admin/activity/?client=${client_id}`)
    const { events } = body as { readonly events: readonly object[] }
    expect(events.slice(0, 5)).toMatchObject(
      ['deleted', 'enabled', 'disabled', 'unverified', 'verified'].map((act) => ({
        event: `client.${act}`,
        actor: 'user',
        actor_email: 'admin@example.org',
        client_id,
        subject: 'Judged',
      })),
    )
  })

  test('contains no client secret and no token', async () => {
    const accessToken = await app.personalToken()
    const { client_secret = '' } = await newClient()
    const { text } = await administrator.get(admin)
    for (const secret of [accessToken, client_secret]) expect(text).not.toContain(secret)
  })
})

describe('sessions', () => {
  test('can be listed and ended: one session, all other sessions, and the current session', async () => {
    const email = 'sessions@example.org'
    const user = await app.newUser({ email })
    const own = await Script.logIn(app, user)
    const second = await Script.logIn(app, user)
    const third = await Script.logIn(app, user)
    interface List {
      readonly sessions: readonly { readonly id: string; readonly is_current: boolean }[]
    }
    const list = async (reader = own): Promise<List['sessions']> =>
      ((await reader.get(sessions)).body as List).sessions
    expect((await list()).filter(({ is_current }) => is_current)).toHaveLength(1)
    const last = (await list(third)).find(({ is_current }) => is_current)
    expect((await own.post(sessions, { session_id: last?.id })).body).toEqual({})
    expect((await third.get(sessions)).status).toBe(401)
    expect((await second.get(sessions)).status).toBe(200)
    await own.post(sessions, { others: 'yes' })
    expect((await second.get(sessions)).status).toBe(401)
    expect(await list()).toHaveLength(1)
    const { identifier } = own.session
    expect(JSON.stringify(await list())).not.toContain(identifier)
    const [itself] = await list()
    await own.post(sessions, { session_id: itself?.id })
    expect((await own.get(sessions)).status).toBe(401)
  })
})
