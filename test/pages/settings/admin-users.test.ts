import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { User, UserId } from '../../../src/model/user.ts'
import type { UserCallbacks } from '../../../src/model/user-table.ts'
import { query } from '../../support/database.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { authorizationOf, statusOf } from '../../support/tokens.ts'
import { Script } from '../api/script.ts'
import { at, type Page, Person } from './support.ts'

const { done, problems, users } = en

let app: TestServer
let admin: Person
let own: Person
beforeAll(async () => {
  app = await startServer()
  admin = await Person.stranger(app, { isAdmin: true })
})
afterAll(() => app.close())
beforeEach(async () => {
  own = await Person.stranger(app)
})

const page = (who = own) => admin.get(at.adminUser(who.user.id))

const press = async (act: string, who = own): Promise<Page> => {
  const form = (await page(who)).forms.find(({ fields }) => fields.act?.[0] === act)
  if (!form) throw new Error(`The page does not offer ${act}.`)
  return admin.follow(await admin.send(form))
}

describe('the list of users', () => {
  test('finds users by the beginning of their e-mail address, in any case, and by ID [T1330]', async () => {
    const someone = await Person.stranger(app, { email: 'found_100%@example.org' })
    const found = async (user: string): Promise<readonly string[]> =>
      (await admin.follow(await admin.post(at.adminUsers, { user }))).names
    expect(await found('found_')).toEqual([someone.user.email])
    expect(await found('FOUND_100%@')).toEqual([someone.user.email])
    expect(await found(String(someone.user.id))).toEqual([someone.user.email])
    expect(await found('ound_')).toEqual([])
    expect(await found('found%')).toEqual([])
    expect((await admin.get(`${at.adminUsers}?user=nobody`)).text).toContain(users.none)
  })

  test('lists every user exactly once on its pages [T1331]', async () => {
    const emails: string[] = []
    for (let next: string | null = at.adminUsers; next !== null; ) {
      const shown: Page = await admin.get(next)
      emails.push(...shown.names)
      next = /<a class="button quiet" href="([^"]+)" rel="next"/.exec(shown.html)?.[1] ?? null
    }
    const all = query(app.database, 'select email from oauth2server_user')
    expect(emails.toSorted()).toEqual(all.map(({ email }) => email).toSorted())
  })

  test.each([at.adminUsers, at.adminUser(1)])(
    'returns 404 for %s to users who are not administrators [T1332]',
    async (path) => {
      const responses = [await own.get(path), await own.post(path, { act: 'log_out', user: 'x' })]
      expect(responses.map(({ status }) => status)).toEqual([404, 404])
    },
  )
})

describe('the page of a user', () => {
  test('shows sessions, tokens, applications and a link to the activity [T1333]', async () => {
    await app.server.tokens.createPersonal('Backup', own.user.id, { scopes: ['notes:read'] })
    const { clientId } = await app.client({ name: 'Printer', userId: own.user.id })
    const other = await app.client({ name: 'Diary', userId: null })
    await authorizationOf({ ...app, user: own.user } as TestServer, other.clientId)
    const shown = await page()
    expect(shown.title).toContain(own.user.email)
    expect(shown.names).toEqual(expect.arrayContaining(['Backup', 'Printer', 'Diary']))
    expect(shown.text).toContain('127.0.0.1')
    expect(shown.text).toContain(clientId)
    expect(shown.html).toContain(`href="${at.adminActivity}?user=${own.user.id}"`)
    expect((await admin.get(at.adminUser('0'))).status).toBe(404)
    expect((await admin.get(at.adminUser('x'))).status).toBe(404)
  })

  test('deactivates and reactivates a user with sessions and tokens, with effect from the next request [T1334]', async () => {
    const { accessToken } = await app.server.tokens.createPersonal('Backup', own.user.id)
    expect((await press('deactivate')).done).toBe(done.userDeactivated(own.user.email))
    expect(await statusOf(app, accessToken)).toBe(401)
    expect((await own.get(at.list)).status).toBe(303)
    expect((await page()).text).toContain(users.inactive)
    expect((await press('activate')).done).toBe(done.userActivated(own.user.email))
    expect(await statusOf(app, accessToken)).toBe(200)
    const rows = query(
      app.database,
      `select event from oauth2server_audit where actor_email = '${admin.user.email}' and user_id = '${own.user.id}' order by id`,
    )
    expect(rows.map(({ event }) => event)).toEqual(['user.deactivated', 'user.activated'])
  })

  test('ends all sessions of a user, revokes all tokens, and deletes one token [T1335]', async () => {
    const { tokens } = app.server
    const [one, two] = [
      await tokens.createPersonal('One', own.user.id),
      await tokens.createPersonal('Two', own.user.id),
    ]
    const shown = await page()
    const form = shown.forms.find(({ fields }) => fields.token_id?.[0] === String(one.id))
    const deleted = await admin.follow(await admin.send(form ?? expect.fail('no form')))
    expect(deleted.done).toBe(done.tokenDeleted('One'))
    expect([await statusOf(app, one.accessToken), await statusOf(app, two.accessToken)]).toEqual([
      401, 200,
    ])
    expect((await press('end_tokens')).done).toBe(done.userTokensEnded(own.user.email))
    expect(await statusOf(app, two.accessToken)).toBe(401)
    expect((await press('log_out')).done).toBe(done.loggedOut(own.user.email))
    expect((await own.get(at.list)).status).toBe(303)
  })

  test('does not let administrators lock themselves out [T1336]', async () => {
    const shown = await page(admin)
    expect(shown.text).toContain(problems.ownAccount)
    expect(shown.forms.flatMap(({ fields }) => fields.act ?? [])).not.toContain('deactivate')
    const refused = await admin.post(at.adminUser(admin.user.id), { act: 'deactivate' })
    expect([refused.status, refused.alert]).toEqual([400, problems.ownAccount])
    await press('log_out', admin)
    expect((await admin.get(at.list)).status).toBe(200)
  })

  test('does not delete a token of another user [T1337]', async () => {
    const { id, accessToken } = await app.server.tokens.createPersonal('Mine', admin.user.id)
    const path = at.adminUser(own.user.id)
    expect((await admin.post(path, { act: 'delete_token', token_id: `${id}` })).status).toBe(404)
    expect(await statusOf(app, accessToken)).toBe(200)
  })

  test('returns to the page of the list that contained the form [T1338]', async () => {
    const path = `${at.adminUser(own.user.id)}?sessions_after=1.x`
    const [form] = (await admin.get(path)).forms.filter(({ fields }) => fields.act)
    expect((await admin.send(form ?? expect.fail('no form'))).location).toBe(path)
  })
})

describe('users of the application', () => {
  const people = new Map<UserId, User>()
  const [ada, bob, bea] = [9_000_001, 9_000_002, 9_000_003]
  const person = (id: number, name: string): User => ({
    id,
    email: `${name}@people.example`,
    emailVerified: true,
    active: true,
    isAdmin: id === ada,
  })
  const byEmail = async (email: string) => [...people.values()].find((user) => user.email === email)
  const callbacks: UserCallbacks = {
    find: async (id) => people.get(id),
    findByEmail: byEmail,
    withPassword: byEmail,
  }
  const start = async (more: Partial<UserCallbacks>) => {
    people.clear()
    for (const user of [person(ada, 'ada'), person(bob, 'bob'), person(bea, 'bea')])
      people.set(user.id, user)
    const server = await startServer({ beside: app, users: { ...callbacks, ...more } })
    const user = people.get(ada) ?? expect.fail('nobody')
    return { server, admin: await Person.logIn(server, { user }) }
  }

  test('without search and setActive, the pages explain which actions are unavailable [T1339]', async () => {
    const { server, admin } = await start({})
    await using _ = server
    const list = await admin.get(at.adminUsers)
    expect(list.text).toContain(users.notSearchable)
    expect(list.names).toEqual([])
    const names = async (user: string) => (await admin.get(`${at.adminUsers}?user=${user}`)).names
    expect(await names('bob@people.example')).toEqual(['bob@people.example'])
    expect(await names(`${bea}`)).toEqual(['bea@people.example'])
    const shown = await admin.get(at.adminUser(bob))
    expect(shown.text).toContain(problems.usersElsewhere)
    const refused = await admin.post(at.adminUser(bob), { act: 'deactivate' })
    expect([refused.status, refused.alert]).toEqual([400, problems.usersElsewhere])
  })

  test('with search and setActive, users are listed and deactivated [T1340]', async () => {
    const { server, admin } = await start({
      search: async (text, { after, limit }) =>
        [...people.values()]
          .filter(({ email, id }) => email.startsWith(text) && (after === null || id > after))
          .slice(0, limit),
      setActive: async (id, active) => {
        people.set(id, { ...(people.get(id) ?? person(Number(id), 'x')), active })
      },
    })
    await using _ = server
    expect((await admin.get(at.adminUsers)).names).toHaveLength(3)
    expect((await admin.get(`${at.adminUsers}?user=b`)).names).toHaveLength(2)
    const { accessToken } = await server.server.tokens.createPersonal('Backup', bob)
    const sent = await admin.post(at.adminUser(bob), { act: 'deactivate' })
    expect((await admin.follow(sent)).done).toBe(done.userDeactivated('bob@people.example'))
    expect(people.get(bob)?.active).toBe(false)
    expect(await statusOf(server, accessToken)).toBe(401)
    const [row] = query(
      server.database,
      `select * from oauth2server_audit where event = 'user.deactivated' and user_id = '${bob}'`,
    )
    expect(row).toMatchObject({ actor_id: `${ada}` })
  })
})

test('a script finds a user, and deactivates the user [T1341]', async () => {
  const script = await Script.logIn(app, admin.user)
  const list = await script.get(`${at.adminUsers}?user=${own.user.email}`)
  expect(list.body).toMatchObject({ users: [{ id: own.user.id, is_active: true }], next: null })
  const shown = await script.get(at.adminUser(own.user.id))
  expect(shown.body).toMatchObject({ user: { email: own.user.email }, personal_tokens: [] })
  const after = await script.post(at.adminUser(own.user.id), { act: 'deactivate' })
  expect(after.body).toMatchObject({ id: own.user.id, is_active: false })
})
