import { InvalidField, ScopeDoesNotExists } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ManagedToken } from '../../src/records/tokens/personal-tokens.ts'
import { allPages } from '../store/pages.ts'
import { count, execute, query } from '../support/database.ts'
import { repeatingRandom } from '../support/random.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { authorizationOf, clientOf, statusOf } from '../support/tokens.ts'

const hour = 3_600
const day = 24 * hour

describe('personal tokens', () => {
  let app: TestServer
  beforeAll(async () => {
    app = await startServer()
  })
  afterAll(() => app.close())

  const managed = () => app.server.personalTokens
  const create = (options = {}, name = 'Laptop') => managed().create(name, app.user.id, options)
  const found = async (id: number): Promise<ManagedToken> =>
    (await managed().find(app.user.id, id)) ?? expect.unreachable(`There is no token ${id}.`)
  const scopesOf = async (value: string) => {
    const response = await fetch(`${app.issuer}/oauth/info`, {
      headers: { authorization: `Bearer ${value}` },
    })
    const body = (await response.json()) as { scopes?: readonly string[] }
    return body.scopes ?? response.status
  }
  const statuses = (...values: string[]) => Promise.all(values.map((value) => statusOf(app, value)))
  const rowsOf = (clientKey: number) =>
    query(app.database, 'select * from oauth2server_token where client_key = ?', clientKey)
  const rotate = (id: number, overlap?: number) =>
    managed().rotate(id, overlap === undefined ? {} : { overlap })

  describe('of a user', () => {
    test('are listed with name, scopes, expiry and last use, newest first', async () => {
      const user = await app.server.users.create({ email: 'list@example.org', password: null })
      const one = await managed().create('First', user.id, { scopes: ['notes:read'] })
      await managed().create('Internal', user.id, { isInternal: true })
      await create()
      const two = await managed().create('Second', user.id, { expiresIn: 60 })
      const { items, next } = await managed().listByUser(user.id, { after: null, limit: 10 })
      expect(next).toBeNull()
      expect(items).toEqual([
        expect.objectContaining({ name: 'Second', lastUse: null, previousExpires: null }),
        expect.objectContaining({ name: 'First', lastUse: null, previousExpires: null }),
      ])
      expect(items.map(({ token }) => ({ ...token }))).toEqual([{ ...two }, { ...one }])
      expect(JSON.stringify(items)).not.toContain(one.accessToken)
    })

    test('are each listed on a page, even if all tokens are rotated concurrently', async () => {
      const user = await app.server.users.create({ email: 'parts@example.org', password: null })
      const ids: number[] = []
      for (let index = 0; index < 7; index += 1) {
        const { id } = await managed().create(`T${index}`, user.id)
        ids.unshift(id)
        if (index % 2 === 0) await rotate(id, hour)
      }
      for (const limit of [1, 3, 7]) {
        const items = await allPages((cursor) => managed().listByUser(user.id, cursor), limit)
        expect(items.map(({ token }) => token.id)).toEqual(ids)
      }
    })

    test('are found by ID, unlike tokens of other users, internal tokens and tokens of clients', async () => {
      const other = await app.server.users.create({ email: 'find@example.org', password: null })
      const mine = await create({ scopes: ['notes:read'] })
      expect({ ...(await found(mine.id)).token }).toEqual({ ...mine })
      expect(await managed().find(other.id, mine.id)).toBeUndefined()
      const internal = await create({ isInternal: true })
      expect(await managed().find(app.user.id, internal.id)).toBeUndefined()
      const { token } = await authorizationOf(app, (await app.client()).clientId)
      expect(await managed().find(app.user.id, token.id)).toBeUndefined()
      for (const id of [0, -1, 1.5, 4711, Number.NaN, Number.MAX_SAFE_INTEGER])
        expect(await managed().find(app.user.id, id), `${id}`).toBeUndefined()
    })
  })

  describe('update()', () => {
    test('changes the name and the scopes from the next request, but not the value, the ID and the expiry', async () => {
      const token = await create({ scopes: ['notes:read', 'notes:write'], expiresIn: day })
      await managed().update(await found(token.id), { name: ' Desktop ', scopes: ['notes:read'] })
      expect(await scopesOf(token.accessToken)).toEqual(['notes:read'])
      const after = await found(token.id)
      expect(after.name).toBe('Desktop')
      expect({ ...after.token }).toEqual({ ...token, scopes: ['notes:read'] })
      const client = await clientOf(app, token.clientId)
      expect(client).toMatchObject({ name: 'Desktop', defaultScopes: ['notes:read'] })
      await managed().update(after, { scopes: ['notes:write', 'user:email'] })
      expect(await scopesOf(token.accessToken)).toEqual(['notes:write', 'user:email'])
      expect((await found(token.id)).name, 'an omitted name does not change').toBe('Desktop')
      await managed().update(after, { scopes: [] })
      expect(await scopesOf(token.accessToken)).toEqual([])
    })

    test('changes neither the scopes nor the token row if the input contains only the name', async () => {
      const token = await create({ scopes: ['notes:read'] })
      const before = rowsOf(token.clientKey)
      await managed().update(await found(token.id), { name: 'Renamed' })
      expect(rowsOf(token.clientKey)).toEqual(before)
      expect(await scopesOf(token.accessToken)).toEqual(['notes:read'])
      expect(await app.server.tokens.personalNamed(app.user.id, 'Renamed')).toEqual([token.id])
      expect((await clientOf(app, token.clientId)).defaultScopes).toEqual(['notes:read'])
    })

    test('also removes scopes from a former value that is still valid', async () => {
      const old = await create({ scopes: ['notes:read', 'notes:write'] })
      const fresh = await rotate(old.id, hour)
      await managed().update(await found(old.id), { scopes: ['notes:read'] })
      expect(await scopesOf(old.accessToken)).toEqual(['notes:read'])
      expect(await scopesOf(fresh.accessToken)).toEqual(['notes:read'])
      expect((await found(old.id)).previousExpires).toBe(app.now() + hour * 1000)
      app.advance(hour)
      expect(await statuses(old.accessToken, fresh.accessToken)).toEqual([401, 200])
      await managed().update(await found(old.id), { scopes: ['notes:write'] })
      expect(await statuses(old.accessToken, fresh.accessToken)).toEqual([401, 200])
    })

    test.each([
      ['an empty name', { name: ' ' }, InvalidField],
      ['a deceptive name', { name: 'a\u202eb', scopes: [] }, InvalidField],
      ['an unregistered scope', { name: 'New', scopes: ['nope'] }, ScopeDoesNotExists],
    ])('rejects %s, and writes nothing', async (_, changes, error) => {
      const token = await create({ scopes: ['notes:read'] }, 'Kept')
      const before = [rowsOf(token.clientKey), await found(token.id)]
      await expect(managed().update(await found(token.id), changes)).rejects.toThrow(error)
      expect([rowsOf(token.clientKey), await found(token.id)]).toEqual(before)
      expect((await clientOf(app, token.clientId)).defaultScopes).toEqual(['notes:read'])
    })

    test('changes nothing if the operation fails after some writes', async () => {
      let fails = false
      await using failing = await startServer({
        beside: app,
        aroundStore: async ({ name }, run) => {
          const result = await run()
          if (fails && name === 'tokens.rewrite')
            throw new Error('after the client, before the end')
          return result
        },
      })
      const token = await create({ scopes: ['notes:read'] }, 'Whole')
      const before = await found(token.id)
      fails = true
      const changes = { name: 'Half', scopes: ['notes:write'] }
      await expect(failing.server.personalTokens.update(before, changes)).rejects.toThrow('after')
      expect(await found(token.id)).toEqual(before)
      expect(await scopesOf(token.accessToken)).toEqual(['notes:read'])
    })

    test('rejects a deleted token', async () => {
      const token = await create()
      const before = await found(token.id)
      await app.server.tokens.revoke(token)
      await expect(managed().update(before, { name: 'Ghost' })).rejects.toThrow()
      expect(await app.server.tokens.personalNamed(app.user.id, 'Ghost')).toEqual([])
    })
  })

  describe('an altered row', () => {
    const tampered = async () => {
      const token = await create({ scopes: ['notes:read'] })
      const widen = "update oauth2server_token set scopes = 'notes:write' where id = ?"
      expect(execute(app.database, widen, token.id)).toBe(1)
      expect(await statusOf(app, token.accessToken)).toBe(401)
      return token
    }

    test('is treated as missing, and an update of the token that was read before is rejected', async () => {
      const token = await create({ scopes: ['notes:read'] })
      const before = await found(token.id)
      const widen = "update oauth2server_token set scopes = 'notes:write' where id = ?"
      execute(app.database, widen, token.id)
      expect(await managed().find(app.user.id, token.id)).toBeUndefined()
      const { items } = await managed().listByUser(app.user.id, { after: null, limit: 100 })
      expect(items.map((item) => item.token.id)).not.toContain(token.id)
      await managed().update(before, { scopes: ['notes:read', 'notes:write'] })
      expect(await statusOf(app, token.accessToken)).toBe(401)
    })

    test('cannot be rotated', async () => {
      const token = await tampered()
      const before = rowsOf(token.clientKey)
      await expect(rotate(token.id, hour)).rejects.toThrow(InvalidField)
      expect(rowsOf(token.clientKey)).toEqual(before)
    })

    test('does not make a former value valid if its lifetime was extended and it was marked as current', async () => {
      const old = await create({ scopes: ['notes:read'] })
      const fresh = await rotate(old.id, 60)
      const prolong =
        'update oauth2server_token set expires = expires + 1000000, ends_at = null where successor_id = ?'
      expect(execute(app.database, prolong, old.id)).toBe(1)
      expect(await statuses(old.accessToken, fresh.accessToken)).toEqual([401, 200])
      await managed().update(await found(old.id), { scopes: ['notes:write'] })
      expect(await statuses(old.accessToken, fresh.accessToken)).toEqual([401, 200])
    })

    test('of the hidden client remains invalid, and makes an update of the token fail', async () => {
      const token = await create({ scopes: ['notes:read'] })
      const turn = 'update oauth2server_client set is_personal = 0 where client_id = ?'
      execute(app.database, turn, token.clientId)
      await expect(managed().update(await found(token.id), { name: 'x' })).rejects.toThrow()
      expect(await app.server.clients.find(token.clientId)).toBeUndefined()
    })
  })

  describe('rotate()', () => {
    test('returns a new value, and does not change the ID, the name, the client, the user and the scopes', async () => {
      const old = await create({ scopes: ['notes:read', 'test:scope'] })
      app.advance(60)
      const fresh = await rotate(old.id)
      expect(fresh.accessToken).toMatch(/^[A-Za-z0-9]{60}$/)
      expect(fresh.accessToken).not.toBe(old.accessToken)
      expect({ ...fresh }).toEqual({ ...old, createdAt: app.now() })
      expect(Object.keys(fresh)).not.toContain('accessToken')
      expect(await scopesOf(fresh.accessToken)).toEqual(['notes:read', 'test:scope'])
      const { token, name } = await found(old.id)
      expect([{ ...token }, name]).toEqual([{ ...fresh }, 'Laptop'])
    })

    test('without an overlap, invalidates and deletes the former value immediately', async () => {
      const old = await create()
      const fresh = await rotate(old.id)
      expect(await statuses(old.accessToken, fresh.accessToken)).toEqual([401, 200])
      expect(await app.server.tokens.find(old)).toBeUndefined()
      expect(rowsOf(old.clientKey)).toHaveLength(1)
      expect((await found(old.id)).previousExpires).toBeNull()
    })

    test('with an overlap, the former value remains valid for exactly the overlap', async () => {
      const old = await create()
      const fresh = await rotate(old.id, 90)
      expect((await found(old.id)).previousExpires).toBe(app.now() + 90_000)
      expect(await statuses(old.accessToken, fresh.accessToken)).toEqual([200, 200])
      app.advance(89.999)
      expect(await statuses(old.accessToken, fresh.accessToken)).toEqual([200, 200])
      app.advance(0.001)
      expect(await statuses(old.accessToken, fresh.accessToken)).toEqual([401, 200])
      expect((await found(old.id)).previousExpires).toBeNull()
    })

    test('invalidates the oldest of three values immediately, even during its overlap', async () => {
      const first = await create()
      const second = await rotate(first.id, 10 * day)
      const third = await rotate(first.id, hour)
      const values = [first.accessToken, second.accessToken, third.accessToken]
      expect(await statuses(...values)).toEqual([401, 200, 200])
      expect((await found(first.id)).previousExpires).toBe(app.now() + hour * 1000)
      const fourth = await rotate(first.id)
      expect(await statuses(...values, fourth.accessToken)).toEqual([401, 401, 401, 200])
    })

    test('restarts the lifetime of a token with an expiry, but does not extend the lifetime of the former value', async () => {
      const old = await create({ expiresIn: day })
      app.advance(day - hour)
      const fresh = await rotate(old.id, 2 * hour)
      expect(fresh.expires).toBe(app.now() + day * 1000)
      expect((await found(old.id)).previousExpires).toBe(old.expires)
      app.advance(hour - 1)
      expect(await statuses(old.accessToken, fresh.accessToken)).toEqual([200, 200])
      app.advance(1)
      expect(await statuses(old.accessToken, fresh.accessToken)).toEqual([401, 200])
      app.advance(day - hour - 1)
      expect(await statusOf(app, fresh.accessToken)).toBe(200)
      const again = await rotate(old.id)
      expect(again.expires, 'the lifetime does not grow with each rotation').toBe(
        app.now() + day * 1000,
      )
      app.advance(day)
      expect(await statusOf(app, again.accessToken)).toBe(401)
    })

    test('makes an expired token valid again, but not its former value', async () => {
      const old = await create({ expiresIn: hour })
      app.advance(2 * hour)
      expect(await statusOf(app, old.accessToken)).toBe(401)
      const fresh = await rotate(old.id, day)
      expect(await statuses(old.accessToken, fresh.accessToken)).toEqual([401, 200])
      expect(fresh.expires).toBe(app.now() + hour * 1000)
      expect((await found(old.id)).previousExpires).toBeNull()
    })

    test('does not add an expiry to a token without expiry', async () => {
      const old = await create()
      const fresh = await rotate(old.id, hour)
      expect(fresh.expires).toBeNull()
      app.advance(1_000 * day)
      expect(await statuses(old.accessToken, fresh.accessToken)).toEqual([401, 200])
    })

    test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 315_360_001, '60', null])(
      'rejects the overlap %j, and writes nothing',
      async (overlap) => {
        const token = await create()
        const before = rowsOf(token.clientKey)
        await expect(rotate(token.id, overlap as number)).rejects.toThrow(
          expect.objectContaining({
            name: 'InvalidField',
            field: 'overlap',
            detail: { problem: 'overlapInvalid' },
          }),
        )
        expect(rowsOf(token.clientKey)).toEqual(before)
        expect(await statusOf(app, token.accessToken)).toBe(200)
      },
    )

    test('rejects unknown tokens, former values and tokens that are not personal', async () => {
      const token = await create()
      await rotate(token.id, hour)
      const [former] = rowsOf(token.clientKey).filter(({ successor_id }) => successor_id !== null)
      const { token: other } = await authorizationOf(app, (await app.client()).clientId)
      const before = count(app.database, 'oauth2server_token')
      for (const id of [4711, 0, Number(former?.id), other.id])
        await expect(rotate(id)).rejects.toThrow(InvalidField)
      expect(count(app.database, 'oauth2server_token')).toBe(before)
    })

    test('succeeds 20 times concurrently at two nodes, and leaves one current and one former value', async () => {
      await using node = await startServer({ beside: app })
      const old = await create()
      const rotated = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? app : node).server.personalTokens.rotate(old.id, { overlap: hour }),
        ),
      )
      const values = rotated.map(({ accessToken }) => accessToken)
      expect(new Set(values).size).toBe(20)
      const valid = (await statuses(old.accessToken, ...values)).filter((status) => status === 200)
      expect(valid).toHaveLength(2)
      expect(rowsOf(old.clientKey)).toHaveLength(2)
      expect(rowsOf(old.clientKey).filter(({ successor_id }) => successor_id === null)).toEqual([
        expect.objectContaining({ id: old.id }),
      ])
      app.advance(hour)
      const left = await Promise.all(values.map((value) => statusOf(app, value)))
      expect(left.filter((status) => status === 200)).toHaveLength(1)
    })

    test('either completes or has no effect if the scopes change or the token is deleted concurrently', async () => {
      const one = await create({ scopes: ['notes:read', 'notes:write'] })
      const before = await found(one.id)
      const [fresh] = await Promise.all([
        rotate(one.id, hour),
        managed().update(before, { scopes: ['notes:read'] }),
      ])
      expect(await scopesOf(one.accessToken)).toEqual(['notes:read'])
      expect(await scopesOf(fresh.accessToken)).toEqual(['notes:read'])
      const two = await create()
      const [rotated] = await Promise.allSettled([
        rotate(two.id, hour),
        app.server.tokens.revoke(two),
      ])
      if (rotated.status === 'rejected') expect(rotated.reason).toBeInstanceOf(InvalidField)
      else expect(await statusOf(app, rotated.value.accessToken)).toBe(401)
      expect(await statusOf(app, two.accessToken)).toBe(401)
      expect(rowsOf(two.clientKey)).toEqual([])
    })

    test('changes nothing if the operation fails after some writes', async () => {
      let fails = false
      await using failing = await startServer({
        beside: app,
        aroundStore: async ({ name }, run) => {
          const result = await run()
          if (fails && name === 'tokens.insert') throw new Error('after everything')
          return result
        },
      })
      const token = await create()
      fails = true
      await expect(
        failing.server.personalTokens.rotate(token.id, { overlap: hour }),
      ).rejects.toThrow('after everything')
      expect(await statusOf(app, token.accessToken)).toBe(200)
      expect(rowsOf(token.clientKey)).toHaveLength(1)
    })

    test('does not change the result of a look-up by name, which finds one token', async () => {
      const token = await create({}, 'Rotated twice')
      await rotate(token.id, hour)
      await rotate(token.id, hour)
      expect(await app.server.tokens.personalNamed(app.user.id, 'Rotated twice')).toEqual([
        token.id,
      ])
    })
  })

  test('does not prevent deleting the token, which also invalidates the former value', async () => {
    const old = await create()
    const fresh = await rotate(old.id, day)
    expect(await app.server.tokens.revoke(fresh)).toBe(true)
    expect(await statuses(old.accessToken, fresh.accessToken)).toEqual([401, 401])
    expect(rowsOf(old.clientKey)).toEqual([])
    expect(await app.server.clients.find(old.clientId)).toBeUndefined()
  })

  test('ST-05 leaves a former value, which the sweeper deletes after its expiry without deleting the token', async () => {
    await using own = await startServer()
    const { personalTokens } = own.server
    const old = await personalTokens.create('Swept', own.user.id)
    const fresh = await personalTokens.rotate(old.id, { overlap: hour })
    expect(await own.server.sweep()).toBe(0)
    own.advance(hour)
    expect(await own.server.sweep()).toBe(1)
    expect(await statusOf(own, fresh.accessToken)).toBe(200)
    expect(await own.server.clients.find(old.clientId)).toBeDefined()
    expect(await personalTokens.find(own.user.id, old.id)).toBeDefined()
  })

  test('does not use the operations on clients, which reject the hidden client', async () => {
    const token = await create()
    await rotate(token.id, hour)
    const { clients } = app.server
    for (const attempt of [
      () => clients.update(token.clientId, { name: 'x' }),
      () => clients.resetClientId(token.clientId),
      () => clients.resetClientSecret(token.clientId, { overlap: 60 }),
      () => clients.resetCredentials(token.clientId),
      () => clients.mark(token.clientId, { isVerified: true }),
    ])
      await expect(attempt()).rejects.toThrow(expect.objectContaining({ field: 'client_id' }))
  })

  test('stores neither value of a token in plain text', async () => {
    const old = await create()
    const fresh = await rotate(old.id, hour)
    const kept = JSON.stringify([rowsOf(old.clientKey), app.log, await found(old.id)])
    for (const { accessToken } of [old, fresh]) expect(kept).not.toContain(accessToken)
  })
})

describe('ST-04 if the random source repeats a value, rotate()', () => {
  test.each([
    ['the value of another token', 0],
    ['the value of the same token', hour],
    ['the value of the same token', 0],
  ])('does not use %s again, with an overlap of %i s', async (whose, overlap) => {
    const source = repeatingRandom()
    await using app = await startServer({ random: source.random })
    const { personalTokens } = app.server
    const drawnBy = async () => {
      source.drawn()
      const token = await personalTokens.create('T', app.user.id)
      return { token, value: source.drawn().at(-1) ?? expect.unreachable() }
    }
    const [other, own] = [await drawnBy(), await drawnBy()]
    source.repeat([whose === 'of its own' ? own.value : other.value])
    const fresh = await personalTokens.rotate(own.token.id, { overlap })
    expect(source.left).toBe(0)
    const values = [other.token, own.token, fresh].map(({ accessToken }) => accessToken)
    expect(new Set(values).size).toBe(3)
    const statuses = await Promise.all(values.map((value) => statusOf(app, value)))
    expect(statuses).toEqual([200, overlap === 0 ? 401 : 200, 200])
  })
})
