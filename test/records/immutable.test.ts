import { Hono } from 'hono'
import type { AuthorizationServer, User } from 'svc-oauth2server'
import { Scope } from 'svc-oauth2server'
import { authOf, requireApiAuth, requireOauthScopes, rest } from 'svc-oauth2server/hono'
import { actAs, createTestServer } from 'svc-oauth2server/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

// Look-ups return the same object to concurrent requests, so no caller may change it.

let server: AuthorizationServer
let user: User
beforeAll(async () => {
  server = await createTestServer({ scopes: [new Scope('notes:read'), new Scope('notes:write')] })
  user = await server.users.create({ email: 'ada@example.org', password: null })
})
afterAll(() => server.close())

/** Assigns to each property, and adds to each array, of a record. Returns the names that could be changed. */
const changeable = (record: object): readonly string[] =>
  Object.entries(record).flatMap(([name, value]) => {
    const changes = [() => Reflect.set(record, name, 'changed')]
    if (Array.isArray(value)) changes.push(() => value.push('changed') > 0)
    return changes.some((change) => {
      try {
        return change()
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError)
        return false
      }
    })
      ? [name]
      : []
  })

describe('records that look-ups return cannot be changed', () => {
  test('a client, from create, find, update and the list of the owner [T1063]', async () => {
    const created = await server.clients.create({
      name: 'App',
      userId: user.id,
      redirectUris: ['https://client.example/cb'],
    })
    const { clientId } = created.client
    const updated = await server.clients.update(clientId, { name: 'Other' })
    const { items } = await server.clients.ofOwner(user.id, { after: null, limit: 9 })
    const found = await server.clients.find(clientId)
    for (const client of [created.client, updated, items[0]?.client, found])
      expect(changeable(client ?? {})).toEqual([])
    expect(() => Object.assign(found ?? {}, { redirectUris: ['javascript:alert(1)'] })).toThrow(
      TypeError,
    )
    expect((await server.clients.find(clientId))?.redirectUris).toEqual([
      'https://client.example/cb',
    ])
  })

  test('a token with its user and client, from createPersonal, getToken and get', async () => {
    const created = await server.tokens.createPersonal('Laptop', user.id, {
      scopes: ['notes:read'],
    })
    const found = await server.getToken({ accessToken: created.accessToken })
    expect(changeable(found ?? {})).toEqual([])
    for (const record of [found?.token, found?.user, found?.client])
      expect(changeable(record ?? {})).toEqual([])
    expect(changeable((await server.tokens.get(created.id)) ?? {})).toEqual([])
  })

  test('a token from a look-up by its refresh token', async () => {
    const { client } = await server.clients.create({ name: 'App', userId: user.id })
    const issued = await server.tokens.issue({
      type: 'user',
      client,
      subject: user,
      scopes: ['notes:read'],
      refreshable: true,
    })
    const found = await server.getToken({ refreshToken: issued.refreshToken ?? '' })
    for (const record of [found, found?.token, found?.client, found?.authorization])
      expect(changeable(record ?? {})).toEqual([])
  })

  test('a user', async () => {
    expect(changeable((await server.users.find(user.id)) ?? {})).toEqual([])
    expect(changeable((await server.users.findByEmail(user.email)) ?? {})).toEqual([])
  })

  test('the scopes of a request cannot be widened for later requests with the same token', async () => {
    const app = new Hono()
    app.get('/widen', rest(server), (c) => {
      ;(authOf(c).scopes as string[]).push('notes:write')
      return c.json({})
    })
    app.get('/write', rest(server), requireApiAuth(), requireOauthScopes('notes:write'), (c) =>
      c.json({}),
    )
    app.onError((error, c) => (error instanceof TypeError ? c.json({}, 500) : c.json({}, 403)))
    const { headers } = await actAs(server, { user, scopes: ['notes:read'] })
    expect((await app.request('/widen', { headers })).status).toBe(500)
    expect((await app.request('/write', { headers })).status).toBe(403)
  })
})
