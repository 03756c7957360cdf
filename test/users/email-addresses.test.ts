import { table } from 'svc-oauth2server'
import { createTestServer } from 'svc-oauth2server/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KeyRing } from '../../src/crypto/sealed.ts'
import {
  emailKey,
  emailPrefixes,
  emailProblemOf,
  heldEmail,
  shownEmail,
} from '../../src/model/email-address.ts'
import { passwordClaims, userClaims } from '../../src/model/entities/user.ts'
import { literal } from '../attacks/support/database-writer.ts'
import { sealedPassword } from '../support/known-password.ts'
import { secretKey, startServer, type TestServer } from '../support/server.ts'
import { logIn } from '../support/session.ts'
import { type Database, type DatabaseKind, databaseKinds, makeDatabase } from './databases.ts'

describe('the normal form of an e-mail address', () => {
  test.each([
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
    [' ADA@BÜCHER.Example. ', 'ada@xn--bcher-kva.example'],
    ['ada@bu\u0308cher.example', 'ada@xn--bcher-kva.example'],
    ['ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
    ['ａｄａ＠ｅｘａｍｐｌｅ。ｏｒｇ', 'ada@example.org'],
    ['jo\u0308rg@example.org', 'jörg@example.org'],
    ['JÖRG@example.org', 'jörg@example.org'],
    ['иван@пример.рф', 'иван@xn--e1afmkfd.xn--p1ai'],
    ['user_x+tag@a_b.example', 'user_x+tag@a_b.example'],
    ['ada@localhost', 'ada@localhost'],
    // Node's parser of host names would read these domains as the address 1.2.0.3 and as faß.de without its ß.
    ['ada@1.2.3', 'ada@1.2.3'],
    ['ada@faß.de', 'ada@xn--fa-hia.de'],
  ])('of %j is %j [T3800]', (typed, key) => {
    expect(emailKey(typed)).toBe(key)
    expect(emailKey(key)).toBe(key)
    expect(emailProblemOf(typed)).toBeUndefined()
  })

  test.each([
    ['ada\u200B@example.org', 'emailUnseen'],
    ['ada@exam\u00ADple.org', 'emailUnseen'],
    ['ada\u202E@example.org', 'emailUnseen'],
    ['ada\u2066@example.org', 'emailUnseen'],
    ['ada\u3164@example.org', 'emailUnseen'],
    ['ada\uFE0F@example.org', 'emailUnseen'],
    ['ad\u200Da@example.org', 'emailUnseen'],
    ['ada\u0000@example.org', 'emailUnseen'],
    ['ada\u{E0061}@example.org', 'emailUnseen'],
    ['ada', 'emailInvalid'],
    ['a@b@c', 'emailInvalid'],
    ['@example.org', 'emailInvalid'],
    ['ada@', 'emailInvalid'],
    ['ada@a..b', 'emailInvalid'],
    ['ada@[127.0.0.1]', 'emailInvalid'],
    ['ada@ex/ample.org', 'emailInvalid'],
    ['ada@ex%61mple.org', 'emailInvalid'],
    ['ada@example.org:25', 'emailInvalid'],
    ['ada@٠.example', 'emailInvalid'],
    [`a${'\u0301'.repeat(31)}@example.org`, 'emailInvalid'],
    [`${'x'.repeat(250)}@example.org`, 'emailInvalid'],
  ])('does not exist for %j: %s [T3801]', (typed, problem) => {
    expect(emailKey(typed)).toBeUndefined()
    expect(emailProblemOf(typed)).toBe(problem)
  })

  test.each([
    'аda@example.org', // a Cyrillic а
    'аԁа@example.org', // Cyrillic letters only
    'ɑdämin@example.org', // a Latin alpha
    'ıan@example.org', // a dotless i
    'ﬁona@example.org', // a ligature
    '𝐚da@example.org', // a mathematical letter
  ])(
    'a new account cannot have the look-alike %s, and pages show it in another way [T3802]',
    (typed) => {
      expect(emailProblemOf(typed)).toBe('emailLookAlike')
      expect(shownEmail(typed)).toMatch(/^[!-~]+@example\.org$/)
      expect(shownEmail(typed)).toMatch(/^xn--|\\u\{/)
    },
  )

  test('an address that the application holds has an ASCII domain and no invisible character [T3803]', () => {
    expect(heldEmail('Ada@Bücher.Example')).toBe('Ada@xn--bcher-kva.example')
    expect(heldEmail('Ada@Example.org')).toBe('Ada@Example.org')
    expect(heldEmail('ada\u202E@example.org')).toBe('ada\uFFFD@example.org')
    expect(heldEmail('ada\u200B')).toBe('ada\uFFFD')
  })

  test('the beginning of an address also finds a domain that is typed in part [T3804]', () => {
    expect(emailPrefixes('ADA')).toEqual(['ada'])
    expect(emailPrefixes('ada@bücher.ex')[0]).toBe('ada@xn--bcher-kva.ex')
    expect(emailPrefixes('ada@bü')[0]).toBe('ada@xn--')
  })
})

const unicode = 'ada@bücher.example'
const ascii = 'ada@xn--bcher-kva.example'

describe.each(databaseKinds)('built-in users on %s', (kind: DatabaseKind) => {
  let database: Database
  let app: TestServer
  beforeAll(async () => {
    database = await makeDatabase(kind)
    app = await startServer({ store: database.store })
  })
  afterAll(async () => {
    await app.close()
    await database.remove()
  })

  test('one person is one account, in whatever spelling she registers and logs in [T3805]', async () => {
    const user = await app.newUser({ email: 'Ada@BÜCHER.example' })
    expect(user.email).toBe(ascii)
    for (const email of [
      unicode,
      ascii,
      'ADA@xn--BCHER-kva.example.',
      'ada@bu\u0308cher.example',
    ]) {
      await logIn({ ...app, user: { ...user, email } })
      expect((await app.server.users.findByEmail(email))?.id).toBe(user.id)
      await expect(app.server.users.create({ email, password: null })).rejects.toThrow('taken')
    }
  })

  test('rows of an earlier version get the normal form at the next start, and nobody loses an account [T3806]', async () => {
    const keys = new KeyRing([secretKey])
    const insert = async (email: string, id: number) => {
      const user = { id, email, emailVerified: true, active: true, isAdmin: false }
      const seal = keys.sealRow(userClaims(user))
      const hash = sealedPassword(keys, user)
      await database.run(`insert into oauth2server_user (id, email, password_hash, active, email_verified, is_admin, created_at, seal)
        values (${id}, ${literal(email)}, ${literal(hash)}, 1, 1, 0, 0, ${literal(seal)})`)
      return { ...app, user }
    }
    await database.run('delete from oauth2server_user')
    const alone = await insert('grace@bücher.example', 101)
    const older = await insert(unicode, 102)
    const newer = await insert(ascii, 103)
    const unseen = await insert('eve\u200B@example.org', 104)
    const local = await insert('jörg@example.org', 105)
    // Before the migration, as on a node that still runs.
    for (const account of [alone, older, newer, unseen, local]) await logIn(account)
    await database.run(
      "insert into oauth2server_sweeper_note (kind, key, at) values ('email addresses', '', 0)",
    )
    const start = async () => {
      const second = await startServer({ beside: app, store: database.store })
      await second.close()
      return second.log
        .filter(({ event }) => event === 'user.email_kept')
        .map(({ userId }) => userId)
    }
    expect((await start()).sort()).toEqual([102, 104])
    const emails = async () =>
      (await database.run('select id, email from oauth2server_user order by id')).map(
        ({ email }) => email,
      )
    expect(await emails()).toEqual([
      'grace@xn--bcher-kva.example',
      unicode,
      ascii,
      'eve\u200B@example.org',
      'jörg@example.org',
    ])
    // The user of the changed row has the same password, and both users of one address can log in.
    const changed = { ...app, user: { ...alone.user, email: 'grace@xn--bcher-kva.example' } }
    for (const account of [alone, changed, older, newer, unseen, local]) await logIn(account)
    for (const { user } of [older, unseen])
      expect(await app.server.users.setEmail(user.id, `now-${user.id}@example.org`)).toBe(true)
    expect(await start()).toEqual([])
    expect(
      await database.run("select * from oauth2server_sweeper_note where kind = 'email addresses'"),
    ).toEqual([])
  })

  test('when two users have one address, the password decides who logs in [T3807]', async () => {
    await database.run('delete from oauth2server_user')
    const keys = new KeyRing([secretKey])
    const first = await app.server.users.create({ email: ascii, password: 'the first password' })
    const second = await app.server.users.create({
      email: 'second@example.org',
      password: 'the second password',
    })
    const former = { ...second, email: unicode }
    const [row] = await database.run(
      `select password_hash from oauth2server_user where id = ${second.id}`,
    )
    const hash = keys.open('row', String(row?.password_hash), passwordClaims(second)) ?? ''
    await database.run(`update oauth2server_user set email = ${literal(unicode)},
      seal = ${literal(keys.sealRow(userClaims(former)))},
      password_hash = ${literal(keys.seal('row', hash, passwordClaims(former)))} where id = ${second.id}`)
    for (const email of [unicode, ascii]) {
      expect((await app.server.users.withPassword(email, 'the first password'))?.id).toBe(first.id)
      expect((await app.server.users.withPassword(email, 'the second password'))?.id).toBe(
        second.id,
      )
      expect(await app.server.users.withPassword(email, 'another password')).toBeUndefined()
    }
  })

  test('setEmail() refuses the address of another user in any spelling [T3808]', async () => {
    await database.run('delete from oauth2server_user')
    const user = await app.newUser({ email: ascii })
    const other = await app.newUser({ email: 'other@example.org' })
    await expect(app.server.users.setEmail(other.id, unicode)).rejects.toThrow('taken')
    await expect(app.server.users.setEmail(other.id, 'a\u200B@example.org')).rejects.toThrow(
      'invisible character',
    )
    expect(await app.server.users.setEmail(4711, 'nobody@example.org')).toBe(false)
    expect(await app.server.users.setEmail(user.id, 'Ada@Example.org')).toBe(true)
    await logIn({ ...app, user: { ...user, email: 'ada@example.org' } })
    expect(await app.server.users.setEmail(other.id, unicode)).toBe(true)
  })
})

describe.each(databaseKinds)('users in a table on %s', (kind: DatabaseKind) => {
  test('are found in every spelling, and reported with an ASCII domain [T3809]', async () => {
    const database = await makeDatabase(kind)
    await database.run('create table people (id integer primary key, email text)')
    await database.run(
      `insert into people values (1, '${unicode}'), (2, 'Grace@xn--bcher-kva.example'), (3, 'eve\u202E@example.org')`,
    )
    const server = await createTestServer({
      store: database.store,
      users: table('people', { id: 'id', email: 'email' }),
      resourceOwner: () => null,
      loginUrl: '/enter',
    })
    const { users } = server
    for (const email of [unicode, ascii])
      expect(await users.findByEmail(email)).toMatchObject({ id: 1, email: ascii })
    for (const email of ['grace@bücher.example', 'GRACE@xn--bcher-kva.example'])
      expect(await users.findByEmail(email)).toMatchObject({ id: 2 })
    expect(await users.find(3)).toMatchObject({ email: 'eve\uFFFD@example.org' })
    for (const text of ['ada@büch', ascii, unicode])
      expect((await users.search(text, { after: null, limit: 5 })).items).toMatchObject([{ id: 1 }])
    const { accessToken } = await server.tokens.createPersonal('Laptop', 1)
    expect((await server.getToken({ accessToken }))?.user?.email).toBe(ascii)
    const { client } = await server.clients.create({ name: 'Notes', userId: 1 })
    expect((await server.clients.find(client.clientId))?.maker).toBe(ascii)
    const page = { after: null, limit: 5 }
    for (const text of [unicode, ascii, 'bücher.example'])
      expect((await server.clients.search(text, page)).items).toHaveLength(1)
    await server.close()
    await database.remove()
  })
})

describe('callbacks of the application', () => {
  const person = {
    id: 1,
    email: 'Ada@Bücher.example',
    emailVerified: true,
    active: true,
    isAdmin: false,
  }
  const withPerson = async (held: string) => {
    const asked: string[] = []
    const find = (email: string) => {
      asked.push(email)
      return email === held ? person : undefined
    }
    const server = await createTestServer({
      users: {
        find: async (id) => (id === 1 ? person : undefined),
        findByEmail: async (email) => find(email),
        withPassword: async (email) => find(email),
      },
    })
    return { server, asked }
  }

  test.each([ascii, unicode, 'Ada@Bücher.example'])(
    'get the normal form first, then the other spellings: %s [T3810]',
    async (held) => {
      const { server, asked } = await withPerson(held)
      const all = [ascii, unicode, 'Ada@Bücher.example']
      const expected = all.slice(0, all.indexOf(held) + 1)
      expect(await server.users.findByEmail('Ada@Bücher.example')).toMatchObject({
        id: 1,
        email: 'Ada@xn--bcher-kva.example',
      })
      expect(asked.splice(0)).toEqual(expected)
      expect((await server.users.withPassword('Ada@Bücher.example', 'x'))?.email).toBe(
        'Ada@xn--bcher-kva.example',
      )
      expect(asked).toEqual(expected)
      await server.close()
    },
  )

  test('get an ordinary address and a name without @ once, as the user typed the name [T3811]', async () => {
    const { server, asked } = await withPerson('nobody')
    await server.users.withPassword('ada@example.org', 'x')
    await server.users.withPassword('Ada', 'x')
    expect(asked).toEqual(['ada@example.org', 'Ada'])
    await server.close()
  })

  test('may return objects of a class, whose methods and attributes remain [T3812]', async () => {
    class Person {
      readonly #name = 'Ada'
      readonly id = 1
      readonly emailVerified = true
      readonly active = true
      readonly isAdmin = false
      readonly email = unicode
      greeting(): string {
        return `Hello ${this.#name}`
      }
    }
    const server = await createTestServer({
      users: { find: async () => new Person(), withPassword: async () => undefined },
    })
    const user = (await server.users.find(1)) as Person | undefined
    expect([user?.email, user?.greeting(), { ...user }.email]).toEqual([ascii, 'Hello Ada', ascii])
    await server.close()
  })
})
