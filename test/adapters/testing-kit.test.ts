import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { type AuthorizationServer, Scope, ScopeDoesNotExists } from 'svc-oauth2server'
import { authOf, requireApiAuth, rest } from 'svc-oauth2server/express'
import * as onFastify from 'svc-oauth2server/fastify'
import * as onHono from 'svc-oauth2server/hono'
import { actAs, createTestServer, testClock } from 'svc-oauth2server/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listening } from './embed.ts'

// Tests of the testing kit, except `headers` of `actAs()`, which the guard tests cover for every framework.

const clock = testClock(Date.UTC(2026, 0, 1))
let server: AuthorizationServer
let url: string
let close: () => Promise<void>
beforeAll(async () => {
  server = await createTestServer({ scopes: [new Scope('notes:read')], clock: clock.now })
  const app = express().use(rest(server), requireApiAuth(), (req, res) => {
    const { user, scopes, kind } = authOf(req)
    res.json({ user, scopes, kind, a: req.headers['x-a'] })
  })
  const host = await listening(app.listen(0, '127.0.0.1'))
  url = `http://localhost:${host.port}/`
  close = host.close
})
afterAll(async () => {
  await close()
  await server.close()
})

test('actAs() returns a fetch function with the permissions of the user', async () => {
  const actor = await actAs(server, { scopes: ['notes:read'] })
  const expected = { user: actor.user.id, scopes: ['notes:read'], kind: 'personal_token' }
  expect(await (await actor.fetch(url)).json()).toEqual(expected)
  const headers = { 'x-a': '1', authorization: 'Bearer another' }
  const asked = { ...expected, a: '1' }
  expect(await (await actor.fetch(new URL(url), { headers })).json()).toEqual(asked)
  expect(await (await actor.fetch(new Request(url, { headers }))).json()).toEqual(asked)
})

test('actAs() creates a user, or uses the existing user with the given ID or record', async () => {
  const first = await actAs(server)
  const second = await actAs(server)
  expect(second.user.id).not.toBe(first.user.id)
  expect((await actAs(server, { user: first.user.id })).user.id).toBe(first.user.id)
  expect((await actAs(server, { user: first.user })).user.id).toBe(first.user.id)
  await expect(actAs(server, { scopes: ['notes:raed'] })).rejects.toThrow(ScopeDoesNotExists)
  await expect(actAs(server, { user: 99 })).rejects.toThrow('no such user')
})

test('actAs() returns an access token of a client, or a session of the user', async () => {
  const { user } = await actAs(server)
  const asClient = await actAs(server, { user, scopes: ['notes:read'], as: 'client' })
  expect(await (await asClient.fetch(url)).json()).toEqual({
    user: user.id,
    scopes: ['notes:read'],
    kind: 'access_token',
  })
  const asSession = await actAs(server, { user, as: 'session' })
  expect(await (await asSession.fetch(url)).json()).toEqual({
    user: user.id,
    scopes: null,
    kind: 'session',
  })
  const elsewhere = await actAs(server, { user, as: 'session', address: '192.0.2.1' })
  expect((await elsewhere.fetch(url)).status).toBe(401)
  const misspelled = actAs(server, { scopes: ['notes:raed'], as: 'client' })
  await expect(misspelled).rejects.toThrow(ScopeDoesNotExists)
})

test('a session of actAs() works in every framework that tests requests without a port', async () => {
  const { user } = await actAs(server)
  const inFastify = Fastify()
  await inFastify.register(onFastify.rest(server))
  inFastify.get('/', { preHandler: onFastify.requireApiAuth() }, (request) => {
    return onFastify.authOf(request).kind
  })
  const session = await actAs(server, { user, as: 'session' })
  const answer = await inFastify.inject({ url: '/', headers: session.headers })
  expect([answer.statusCode, answer.body]).toEqual([200, 'session'])
  await inFastify.close()

  const inHono = new Hono().use(onHono.rest(server), onHono.requireApiAuth())
  inHono.get('/', (c) => c.text(onHono.authOf(c).kind))
  const withoutAddress = await actAs(server, { user, as: 'session', address: '' })
  const found = await inHono.request('/', { headers: withoutAddress.headers })
  expect([found.status, await found.text()]).toEqual([200, 'session'])
})

test('testClock() advances only when the test advances it', async () => {
  const { user } = await actAs(server)
  const options = { expiresIn: 60 }
  const { accessToken } = await server.tokens.createPersonal('Test', user.id, options)
  const status = async () =>
    (await fetch(url, { headers: { authorization: `Bearer ${accessToken}` } })).status
  expect(await status()).toBe(200)
  clock.advance(59)
  expect(await status()).toBe(200)
  clock.advance(1)
  expect(await status()).toBe(401)
})
