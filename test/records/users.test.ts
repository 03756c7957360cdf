import { InvalidField, type User, UserProxy } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertRotated, rotatedRow } from '../store/rows.ts'
import { count, execute, query } from '../support/database.ts'
import { storeOf } from '../support/internals.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { authorizationOf, statusOf } from '../support/tokens.ts'

const browser = { cookie: null, address: '127.0.0.1', userAgent: 'test' }

describe('user', () => {
  let app: TestServer
  beforeAll(async () => {
    app = await startServer()
  })
  afterAll(() => app.close())

  let last = 0
  const create = (): Promise<User> => {
    last += 1
    return app.server.users.create({ email: `user-${last}@example.org`, password: null })
  }

  test('is found by ID, and by e-mail address in any case, without the password hash [T728]', async () => {
    const { users } = app.server
    const found = await users.findByEmail('  USER-A@Example.ORG ')
    expect(found).toEqual({
      id: app.user.id,
      email: 'user-a@example.org',
      emailVerified: true,
      active: true,
      isAdmin: false,
    })
    expect(await users.find(app.user.id)).toEqual(found)
    expect(await users.find(4711)).toBeUndefined()
    expect(await users.find('abc')).toBeUndefined()
    expect(await users.findByEmail(`${'x'.repeat(100_000)}@example.org`)).toBeUndefined()
    expect(
      query(app.database, 'select password_hash from oauth2server_user')[0]?.password_hash,
    ).toMatch(/^[0-9a-f]{8}\.[\w-]+$/)
  })

  test('rejects an e-mail address that is already in use', async () => {
    const before = count(app.database, 'oauth2server_user')
    await expect(
      app.server.users.create({ email: 'User-A@example.org', password: null, isAdmin: true }),
    ).rejects.toThrow(expect.objectContaining({ name: 'InvalidField', field: 'email' }))
    expect(count(app.database, 'oauth2server_user')).toBe(before)
    expect((await app.server.users.find(app.user.id))?.isAdmin).toBe(false)
  })

  test('rejects an invalid e-mail address or password', async () => {
    for (const input of [
      { email: 'nope', password: null },
      { email: 'a@example.org', password: 'short' },
    ])
      await expect(app.server.users.create(input)).rejects.toThrow(InvalidField)
  })

  test('get_user: returns the active user with the given e-mail address and password [T744]', async () => {
    const { users } = app.server
    const user = await users.create({ email: 'get@example.org', password: 'a good password' })
    expect(await users.withPassword('GET@example.org', 'a good password')).toEqual(user)
    expect(await users.withPassword('get@example.org', 'a bad password')).toBeUndefined()
    expect(await users.withPassword('nobody@example.org', 'a good password')).toBeUndefined()
    await users.setActive(user.id, false)
    expect(await users.withPassword('get@example.org', 'a good password')).toBeUndefined()
  })

  test('cannot log in if the user has no password', async () => {
    const { email, id } = await create()
    expect(await app.server.users.withPassword(email, '')).toBeUndefined()
    expect(await app.server.users.checkPassword(id, '')).toBe(false)
    expect(await app.server.users.checkPassword(4711, 'x')).toBe(false)
  })

  test('a user proxy can be created from an ID, and verifies the password of the user [T724]', async () => {
    const proxy = await app.server.users.fromId(
      JSON.parse(JSON.stringify(await app.server.users.fromId(app.user.id))),
    )
    expect(proxy).toBeInstanceOf(UserProxy)
    expect(proxy?.email).toBe(app.user.email)
    expect(await proxy?.checkPassword(app.password)).toBe(true)
    expect(await proxy?.checkPassword('wrong')).toBe(false)
    expect(await app.server.users.fromId(4711)).toBeUndefined()
  })

  test('decision §5.3 a new password ends the sessions of the user, but revokes no personal token', async () => {
    const user = await app.server.users.create({
      email: 'change@example.org',
      password: 'the old password',
    })
    const { accessToken } = await app.server.tokens.createPersonal('Test', user.id)
    const [cookie = ''] = (await app.server.sessions.signIn(user.id, browser)).split(';')
    expect(await app.server.sessions.signedIn({ ...browser, cookie })).toBeDefined()
    expect(await app.server.users.setPassword(user.id, 'the new password')).toBe(true)
    expect(await app.server.sessions.signedIn({ ...browser, cookie })).toBeUndefined()
    expect(await statusOf(app, accessToken)).toBe(200)
    expect(await app.server.users.withPassword(user.email, 'the old password')).toBeUndefined()
    expect(await app.server.users.withPassword(user.email, 'the new password')).toBeDefined()
    expect(await app.server.users.setPassword(4711, 'the new password')).toBe(false)
    await expect(app.server.users.setPassword(user.id, 'short')).rejects.toThrow(InvalidField)
  })

  test('can log in if the e-mail address changed while the new password was hashed [T4811]', async () => {
    const { users } = app.server
    const { id } = await create()
    const setting = users.setPassword(id, 'the new password')
    expect(await users.setEmail(id, 'moved@example.org')).toBe(true)
    expect(await setting).toBe(true)
    expect((await users.withPassword('moved@example.org', 'the new password'))?.id).toBe(id)
  })

  describe('an inactive user', () => {
    test('decision §5.3 has no valid tokens from the next request until the user is reactivated', async () => {
      const user = await create()
      const { accessToken } = await app.server.tokens.createPersonal('Test', user.id)
      await app.server.users.setActive(user.id, false)
      expect(await statusOf(app, accessToken)).toBe(401)
      await app.server.users.setActive(user.id, true)
      expect(await statusOf(app, accessToken)).toBe(200)
      expect(await app.server.users.setActive(4711, true)).toBe(false)
    })

    test('decision §5.3 owns clients for which other users have no valid tokens', async () => {
      const owner = await create()
      const { clientId } = await app.client({ userId: owner.id })
      const { accessToken } = await authorizationOf(app, clientId)
      expect(await statusOf(app, accessToken)).toBe(200)
      await app.server.users.setActive(owner.id, false)
      expect(await statusOf(app, accessToken)).toBe(401)
      await app.server.users.setActive(owner.id, true)
      expect(await statusOf(app, accessToken)).toBe(200)
    })
  })

  describe('deletion', () => {
    const all = ['client', 'token', 'authorization', 'consent', 'session', 'rotated_refresh_token']
    const counts = () =>
      Object.fromEntries(all.map((table) => [table, count(app.database, `oauth2server_${table}`)]))

    /** Creates a user with rows of each kind, and another user with rows. */
    const furnished = async () => {
      const user = await create()
      const own = await app.client({ userId: user.id })
      await app.server.tokens.createPersonal('Test', user.id)
      await app.server.sessions.signIn(user.id, browser)
      const theirs = await authorizationOf(app, own.clientId)
      await app.server.consents.grant(user.id, own.clientId, ['notes:read'])
      await insertRotated(storeOf(app.server), rotatedRow(Number(theirs.token.authorizationId)))
      return { user, clientId: own.clientId, theirs }
    }

    test('deletes a user with clients, tokens and sessions, but no rows of other users [T673]', async () => {
      const before = counts()
      const { user, theirs } = await furnished()
      const kept = await app.personalToken()
      expect(counts()).not.toEqual(before)
      expect(await app.server.users.delete(user.id)).toBe(true)
      expect(counts()).toEqual({
        ...before,
        client: Number(before.client) + 1,
        token: Number(before.token) + 1,
      })
      expect(await statusOf(app, theirs.accessToken)).toBe(401)
      expect(await statusOf(app, kept)).toBe(200)
      expect(await app.server.users.delete(user.id)).toBe(false)
    })

    test('deletes a client with its tokens, authorizations and consents [T693]', async () => {
      const { user, clientId, theirs } = await furnished()
      const before = counts()
      expect(await app.server.clients.delete(clientId)).toBe(true)
      const after = counts()
      for (const table of ['client', 'token', 'authorization', 'consent', 'rotated_refresh_token'])
        expect(after[table], table).toBe(Number(before[table]) - 1)
      expect(after.session).toBe(before.session)
      expect(await statusOf(app, theirs.accessToken)).toBe(401)
      expect(await app.server.users.find(user.id)).toBeDefined()
    })

    test('ST-05 rejects a token whose user was deleted directly in the database', async () => {
      const user = await create()
      const { accessToken } = await app.server.tokens.createPersonal('Test', user.id)
      execute(app.database, 'delete from oauth2server_user where id = ?', Number(user.id))
      expect(await statusOf(app, accessToken)).toBe(401)
    })
  })
})
