import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { digestOf } from '../../src/crypto/digest.ts'
import { KeyRing } from '../../src/crypto/sealed.ts'
import { applications, Script } from '../pages/api/script.ts'
import { sealedPassword } from '../support/known-password.ts'
import { secretKey } from '../support/server.ts'
import { statusOf } from '../support/tokens.ts'
import { tokenRequest, UserAgent } from '../support/user-agent.ts'
import {
  type AttackedServer,
  literal,
  type Row,
  startAttacked,
  storeNames,
} from './support/database-writer.ts'

// The attacker can write to the database, but does not have the secret key.

describe.each(storeNames)('on %s', (name) => {
  let it: AttackedServer
  beforeAll(async () => {
    it = await startAttacked(name, { dynamicRegistration: 'open' })
  })
  afterAll(() => it.close())
  beforeEach(() => {
    ;(it.app.log as unknown[]).length = 0
  })

  const rowOf = async (table: string, where: string): Promise<Row> => {
    const [row] = await it.db.run(`select * from oauth2server_${table} where ${where}`)
    if (!row) throw new Error(`There is no ${table} where ${where}.`)
    return row
  }
  const errors = () => it.app.log.filter(({ level }) => level === 'error').map(({ event }) => event)
  let users = 0
  const newUser = () => {
    users += 1
    return it.app.newUser({ email: `user-${users}@example.org` })
  }

  describe('DB-01 Login as another user', () => {
    const logIn = async (email: string) => {
      const { issuer, user, password } = it.app
      const response = await new UserAgent().logIn({ issuer, password, user: { ...user, email } })
      return response.status
    }

    test('DB-01 rejects an e-mail address and a password hash in the row of another user [T598]', async () => {
      const [own, victim] = [await newUser(), await newUser()]
      expect(await logIn(own.email)).toBe(303)
      const { email, password_hash: hash } = await rowOf('user', `id = ${own.id}`)
      await it.db.run(`update oauth2server_user set email = 'gone' where id = ${own.id}`)
      await it.db.run(
        `update oauth2server_user set email = ${literal(email as string)}, password_hash = ${literal(hash as string)} where id = ${victim.id}`,
      )
      expect(await logIn(own.email)).toBe(403)
      expect(errors()).toContain('user.tampered')
    })

    test('DB-01 rejects a user row that was inserted or changed by SQL [T599]', async () => {
      const own = await newUser()
      const before = await rowOf('user', `id = ${own.id}`)
      for (const change of ['is_admin = 1', 'email_verified = 0', 'id = id + 1']) {
        await it.db.run(`update oauth2server_user set ${change} where email = '${own.email}'`)
        expect(await logIn(own.email), change).toBe(403)
        await it.db.run(
          `update oauth2server_user set id = ${before.id}, is_admin = 0, email_verified = 1 where email = '${own.email}'`,
        )
        expect(await logIn(own.email), change).toBe(303)
      }
      await it.app.server.users.setActive(own.id, false)
      await it.db.run(`update oauth2server_user set active = 1 where id = ${own.id}`)
      expect(await logIn(own.email)).toBe(403)
    })

    test('DB-01 does not reuse the ID of a deleted user even if the sequence is reset', async () => {
      const own = await newUser()
      const session = await rowOfSession(own)
      await it.app.server.users.delete(own.id)
      const table = 'oauth2server_user'
      // The attacker resets the sequence from which the database assigns IDs.
      await (name === 'SQLite'
        ? it.db.run(
            `update sqlite_sequence set seq = ${Number(own.id) - 1} where name = '${table}'`,
          )
        : it.db.run(
            `select setval(pg_get_serial_sequence('${table}', 'id'), ${own.id}, false) where pg_get_serial_sequence('${table}', 'id') is not null`,
          )
      ).catch(() => [])
      const next = await newUser()
      expect(next.id).not.toBe(own.id)
      await insert('session', session.row)
      expect(await session.isSignedIn()).toBe(false)
    })
  })

  const rowOfSession = async (user: Awaited<ReturnType<typeof newUser>>) => {
    const script = await Script.logIn(it.app, user)
    const id = digestOf('session', script.session.identifier)
    const row = await rowOf('session', `id = '${id}'`)
    const isSignedIn = async () => (await script.get(`${applications}/`)).status === 200
    expect(await isSignedIn()).toBe(true)
    return { row, isSignedIn }
  }

  const insert = (table: string, row: Row) =>
    it.db.run(
      `insert into oauth2server_${table} (${Object.keys(row).join(', ')}) values (${Object.values(row).map(literal).join(', ')})`,
    )

  describe('DB-02 Takeover of a client', () => {
    const manage = (clientId: string, token: string) =>
      fetch(`${it.app.issuer}/oauth/register/${clientId}`, {
        headers: { authorization: `Bearer ${token}` },
      })
    const mine = 'theAttackerChoseThisRegistrationToken'
    const digest = digestOf('registration_token', mine)

    test('DB-02 rejects a registration token that was written into the row of a user’s client [T600]', async () => {
      const { clientId } = await it.app.client()
      await it.db.run(
        `update oauth2server_client set registration_token = '${digest}' where client_id = '${clientId}'`,
      )
      expect((await manage(clientId, mine)).status).toBe(401)
      await it.db.run(
        `update oauth2server_client set origin = 'registration' where client_id = '${clientId}'`,
      )
      expect((await manage(clientId, mine)).status).toBe(401)
      expect(errors()).toEqual(['client.tampered', 'client.tampered'])
    })

    test('DB-02 accepts a registration token only for clients that registered themselves', async () => {
      const { clientId } = await it.app.client()
      await it.app.server.clients.update(clientId, {}, { registrationToken: digest } as never)
      const { registration_token: written } = await rowOf('client', `client_id = '${clientId}'`)
      expect(written).toBe(digest)
      expect((await manage(clientId, mine)).status).toBe(401)
    })
  })

  describe('DB-03 Additional rights of a token', () => {
    test('DB-03 returns 404 for a forged token row in the forms of personal tokens [T601]', async () => {
      const script = await Script.logIn(it.app)
      const { body } = await script.post(`${applications}/tokens/new/`, {
        name: 'Laptop',
        scopes: ['notes:read'],
      })
      const { id, access_token: value } = body as Record<string, string>
      const row = await rowOf('token', `id = ${id}`)
      const madeUp = {
        ...row,
        id: Number(row.id) + 1000,
        access_token_digest: digestOf('access_token', 'made up'),
        scopes: 'notes:read test:scope test:internal',
      }
      await insert('token', madeUp)
      const path = `${applications}/tokens/${madeUp.id}/`
      expect((await script.get(path)).status).toBe(404)
      expect((await script.post(path, { scopes: ['notes:write'] })).status).toBe(404)
      expect((await script.post(`${path}rotate/`)).status).toBe(404)
      expect((await script.get(`${applications}/`)).text).not.toContain(`/tokens/${madeUp.id}/`)
      expect(errors()).toContain('token.tampered')
      expect((await rowOf('token', `id = ${id}`)).scopes).toBe('notes:read')
      expect(await statusOf(it.app, value ?? '')).toBe(200)
    })

    test('DB-03 returns 404 for a personal token whose scopes were changed in the row', async () => {
      const script = await Script.logIn(it.app)
      const { body } = await script.post(`${applications}/tokens/new/`, { name: 'Phone' })
      const { id } = body as Record<string, string>
      await it.db.run(`update oauth2server_token set scopes = 'test:scope' where id = ${id}`)
      expect((await script.post(`${applications}/tokens/${id}/`, { name: 'x' })).status).toBe(404)
      expect((await script.get(`${applications}/`)).body).toMatchObject({
        personal_tokens: expect.not.arrayContaining([expect.objectContaining({ id: Number(id) })]),
      })
    })

    test('DB-03 rejects a refresh if the row of the token or the authorization was changed', async () => {
      const basic = await it.app.client()
      const issued = await granted(basic)
      for (const change of ['is_internal = 1', 'is_personal = 1', `parent_id = ${issued.id}`]) {
        const before = await rowOf('token', `id = ${issued.id}`)
        await it.db.run(`update oauth2server_token set ${change} where id = ${issued.id}`)
        expect((await refresh(basic, issued.refreshToken)).status, change).toBe(400)
        await it.db.run(`delete from oauth2server_token where id = ${issued.id}`)
        await insert('token', before)
      }
      await it.db.run(
        `update oauth2server_authorization set created_at = created_at + 1 where id = ${issued.authorizationId}`,
      )
      expect((await refresh(basic, issued.refreshToken)).status).toBe(400)
    })
  })

  const granted = async (basic: { clientId: string; clientSecret: string }, user = it.app.user) => {
    const client = await it.app.server.clients.find(basic.clientId)
    if (!client) throw new Error('The client does not exist.')
    const scopes = ['notes:read']
    const { token, accessToken, refreshToken } = await it.app.server.tokens.issue({
      type: 'user',
      client,
      subject: user,
      scopes,
      refreshable: true,
    })
    const { id, authorizationId } = token
    return { id, authorizationId, accessToken, refreshToken: refreshToken ?? '' }
  }
  const refresh = (basic: { clientId: string; clientSecret: string }, refreshToken: string) =>
    tokenRequest(
      it.app.issuer,
      { grant_type: 'refresh_token', refresh_token: refreshToken },
      { basic },
    )

  describe('DB-04 Rows that are moved to another client', () => {
    const swapKeys = async (one: Row, other: Row): Promise<void> => {
      const set = (row: Row, key: unknown) =>
        it.db.run(
          `update oauth2server_client set client_key = ${key} where client_id = ${literal(row.client_id ?? '')}`,
        )
      await set(one, -1)
      await set(other, one.client_key)
      await set(one, other.client_key)
    }

    test('DB-04 rejects two clients with swapped keys, and their tokens', async () => {
      const [one, other] = [await it.app.client(), await it.app.client()]
      const tokens = [await granted(one), await granted(other)]
      const machine = await tokenRequest(
        it.app.issuer,
        { grant_type: 'client_credentials' },
        { basic: one },
      )
      const rows = [
        await rowOf('client', `client_id = '${one.clientId}'`),
        await rowOf('client', `client_id = '${other.clientId}'`),
      ] as const
      await swapKeys(...rows)
      for (const { accessToken } of tokens) expect(await statusOf(it.app, accessToken)).toBe(401)
      expect(await statusOf(it.app, String(machine.body.access_token))).toBe(401)
      for (const { refreshToken } of tokens)
        for (const basic of [one, other])
          expect((await refresh(basic, refreshToken)).status).toBe(401)
      expect(errors()).toContain('client.tampered')
      await swapKeys(
        { ...rows[0], client_key: rows[1].client_key ?? 0 },
        { ...rows[1], client_key: rows[0].client_key ?? 0 },
      )
      for (const { accessToken } of tokens) expect(await statusOf(it.app, accessToken)).toBe(200)
    })

    test('DB-04 rejects a token that was moved to another client [T602]', async () => {
      const [one, other] = [await it.app.client(), await it.app.client()]
      const { id, accessToken, refreshToken } = await granted(one)
      const { client_key: key } = await rowOf('client', `client_id = '${other.clientId}'`)
      await it.db.run(`update oauth2server_token set client_key = ${key} where id = ${id}`)
      expect(await statusOf(it.app, accessToken)).toBe(401)
      for (const basic of [one, other])
        expect((await refresh(basic, refreshToken)).status).toBe(400)
    })

    test('DB-04 rejects the token of a deleted client whose key was assigned to another client', async () => {
      const [one, other] = [await it.app.client(), await it.app.client()]
      const { id, accessToken } = await granted(one)
      const [token, client] = [
        await rowOf('token', `id = ${id}`),
        await rowOf('client', `client_id = '${one.clientId}'`),
      ]
      await it.app.server.clients.delete(one.clientId)
      await it.db.run(
        `update oauth2server_client set client_key = ${client.client_key} where client_id = '${other.clientId}'`,
      )
      await insert('token', token)
      expect(await statusOf(it.app, accessToken)).toBe(401)
      expect(await it.app.server.clients.find(other.clientId)).toBeUndefined()
    })

    test('DB-04 rejects a disabled client that was enabled again by SQL', async () => {
      const basic = await it.app.client()
      const { accessToken } = await granted(basic)
      const { clients } = it.app.server
      await clients.mark(basic.clientId, { isDisabled: true })
      expect(await statusOf(it.app, accessToken)).toBe(401)
      const where = `where client_id = '${basic.clientId}'`
      await it.db.run(`update oauth2server_client set is_disabled = 0 ${where}`)
      expect(await statusOf(it.app, accessToken)).toBe(401)
    })
  })
})

test('DB-01 accepts a password hash only in the row of its user', async () => {
  const keys = new KeyRing([secretKey])
  const sealed = sealedPassword(keys, { id: 1, email: 'a@example.org' })
  expect(keys.open('row', sealed, ['password', 1, 'a@example.org'])).toMatch(/^\$argon2id/)
  expect(keys.open('row', sealed, ['password', 2, 'a@example.org'])).toBeUndefined()
})
