import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { csvLine } from '../../../src/account/csv.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { at, Person, textOf } from './support.ts'

let app: TestServer
let admin: Person
let own: Person
const day = 86_400
beforeAll(async () => {
  app = await startServer({ sessionIdleExpiresIn: 30 * day, sessionExpiresIn: 30 * day })
  admin = await Person.stranger(app, { isAdmin: true })
  own = await Person.stranger(app)
})
afterAll(() => app.close())

const today = (): string => new Date(app.now()).toISOString().slice(0, 10)

describe('the activity', () => {
  test('is limited to days, for the user and for administrators [T1360]', async () => {
    await own.post(at.newToken, { name: 'Earlier' })
    const before = today()
    app.advance(2 * day)
    await own.post(at.newToken, { name: 'Later' })
    const names = async (who: Person, query: string): Promise<string> =>
      (await who.get(query)).items.map(textOf).join('\n')
    for (const [who, page] of [
      [own, `${at.activity}?`],
      [admin, `${at.adminActivity}?user=${own.user.id}&`],
    ] as const) {
      expect(await names(who, `${page}until=${before}`)).toMatch(/Earlier/)
      expect(await names(who, `${page}until=${before}`)).not.toMatch(/Later/)
      expect(await names(who, `${page}since=${today()}`)).toMatch(/Later/)
      expect(await names(who, `${page}since=${today()}`)).not.toMatch(/Earlier/)
      expect(await names(who, `${page}since=yesterday&until=2026-99-99`)).toMatch(
        /Later[\s\S]*Earlier/,
      )
    }
  })

  test('shows name and last characters of a token after its deletion, and lists its events [T1361]', async () => {
    const { id, accessToken } = await app.server.tokens.createPersonal('Short-lived', own.user.id)
    await own.post(at.token(id), { delete: 'yes' })
    for (const [who, page] of [
      [own, at.activity],
      [admin, at.adminActivity],
    ] as const) {
      const shown = await who.get(`${page}?token=${id}`)
      const lines = shown.items.map(textOf)
      expect(lines).toHaveLength(2)
      expect(lines[0]).toContain(`Deleted a personal token Short-lived …${accessToken.slice(-4)}`)
      expect(shown.html).not.toContain(accessToken)
    }
    const other = await Person.stranger(app)
    expect((await other.get(`${at.activity}?token=${id}`)).items).toEqual([])
  })

  test('is found by IP address [T1362]', async () => {
    expect((await admin.get(`${at.adminActivity}?address=127.0.0.1`)).items.length).toBeGreaterThan(
      2,
    )
    expect((await admin.get(`${at.adminActivity}?address=192.0.2.1`)).text).toContain(
      en.admin.noEvents,
    )
  })

  test('shows changed fields before and after, shortened and without secrets [T1363]', async () => {
    const { clientId } = await app.client({ userId: own.user.id, name: 'Before' })
    await own.post(at.client(clientId), {
      name: 'After <b>',
      description: 'x'.repeat(900),
      redirect_uris: 'https://client.example/cb',
      is_confidential: 'true',
    })
    const { id } = await app.server.tokens.createPersonal('Old name', own.user.id)
    await own.post(at.token(id), { name: 'New name', scopes: ['notes:read'] })
    const shown = await own.get(at.activity)
    const token = shown.item(en.events['personal_token.edited'])
    const client = shown.item(en.events['client.edited'])
    expect(token).toMatch(/<del>.*Old name.*<\/del> <ins>.*New name/)
    expect(token).toMatch(/<code>scopes<\/code>[\s\S]*empty[\s\S]*notes:read/)
    expect(client).toMatch(/<del>.*Before.*<\/del> <ins>.*After &lt;b&gt;/)
    expect(client).toContain(`${'x'.repeat(200)}…`)
    expect(client).not.toContain('x'.repeat(201))
  })
})

describe('the export of the activity', () => {
  const lines = (text: string) => text.trimEnd().split(/\r?\n/)

  test('contains the same events as the page, as JSON Lines and as CSV [T1364]', async () => {
    const json = await own.get(`${at.activity}export/?format=jsonl`)
    expect(json.headers.get('content-type')).toBe('application/jsonl; charset=utf-8')
    expect(json.headers.get('content-disposition')).toBe(
      `attachment; filename="activity-${today()}.jsonl"`,
    )
    const events = lines(json.html).map((line) => JSON.parse(line))
    expect(events.length).toBeGreaterThan(5)
    expect(new Set(events.map(({ subject }) => subject))).toContain('Earlier')
    expect(json.html).not.toContain(admin.user.email)
    const csv = await own.get(`${at.activity}export/?format=csv`)
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    expect(csv.headers.get('cache-control')).toBe('no-store')
    const [head, ...rows] = lines(csv.html)
    expect(head?.replace('\uFEFF', '')).toBe(csvLine(Object.keys(events[0])).trimEnd())
    expect(rows).toHaveLength(events.length)
  })

  test('of an administrator applies the search of the page, and other users get 404 [T1365]', async () => {
    const all = lines((await admin.get(`${at.adminActivity}export/?format=jsonl`)).html)
    const some = lines(
      (
        await admin.get(
          `${at.adminActivity}export/?format=jsonl&user=${own.user.id}&since=${today()}`,
        )
      ).html,
    )
    expect(some.length).toBeGreaterThan(0)
    expect(some.length).toBeLessThan(all.length)
    for (const line of some) expect(String(JSON.parse(line).user_id)).toBe(String(own.user.id))
    expect((await own.get(`${at.adminActivity}export/`)).status).toBe(404)
    const page = await admin.get(`${at.adminActivity}?user=${own.user.id}`)
    expect(page.html).toContain(`${at.adminActivity}export/?user=${own.user.id}&amp;format=csv`)
  })

  test('contains no formula that a spreadsheet would execute [T1366]', async () => {
    const name = '=HYPERLINK("http://x","a")'
    await own.post(at.newToken, { name })
    const csv = await own.get(`${at.activity}export/`)
    expect(csv.html).toContain(`"'=HYPERLINK(""http://x"",""a"")"`)
    for (const start of ['=', '+', '-', '@', '\t', '\r'])
      expect(csvLine([`${start}1`])).toBe(`"'${start}1"\r\n`)
    expect(csvLine(['a"b', 1, null, true, { a: 1 }])).toBe('"a""b",1,,true,"{""a"":1}"\r\n')
  })

  test('streams many events in batches [T1367]', async () => {
    const { id } = await app.newUser({ email: 'busy@example.org' })
    for (let n = 0; n < 1_100; n += 1) await app.server.users.setActive(id, n % 2 === 0)
    const text = (await admin.get(`${at.adminActivity}export/?user=${id}&format=jsonl`)).html
    expect(lines(text)).toHaveLength(1_101)
    const ids = lines(text).map((line) => JSON.parse(line).id)
    expect(new Set(ids).size).toBe(1_101)
  })
})
