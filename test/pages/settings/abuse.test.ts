import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startServer } from '../../support/server.ts'
import { UserAgent } from '../../support/user-agent.ts'

const applications = '/account/settings/applications'

const signedIn = async (t: { issuer: string; user: never; password: string }) => {
  const agent = new UserAgent({ 'user-agent': 'A browser' })
  await agent.logIn(t)
  const page = await (await agent.fetch(`${t.issuer}${applications}/`)).text()
  const csrf_token = /name="csrf_token" value="([^"]+)"/.exec(page)?.[1] ?? ''
  return {
    agent,
    post: (path: string, fields: Record<string, string> = {}) =>
      agent.fetch(`${t.issuer}${path}`, {
        method: 'POST',
        body: new URLSearchParams({ csrf_token, ...fields }),
      }),
    get: (path: string, headers: Record<string, string> = {}) =>
      agent.fetch(`${t.issuer}${path}`, { headers }),
  }
}

test('§4.5 users cannot rotate a token with an internal scope', async () => {
  await using t = await startServer()
  const token = await t.server.tokens.createPersonal('Batch', t.user.id, {
    scopes: ['test:scope', 'notes:read'],
    expiresIn: 3_600,
  })
  const person = await signedIn(t as never)
  const response = await person.post(`${applications}/tokens/${token.id}/rotate/`)
  expect(response.status).toBe(400)
  expect(await t.server.tokens.find({ accessToken: token.accessToken })).toBeDefined()
})

test('the rotated value of a token expires after the maximum lifetime of personal tokens', async () => {
  await using t = await startServer({ tokenPersonalMaxExpiresIn: 3_600 })
  const token = await t.server.tokens.createPersonal('Old', t.user.id, {})
  const person = await signedIn(t as never)
  expect((await person.post(`${applications}/tokens/${token.id}/rotate/`)).status).toBe(303)
  const rotated = await t.server.personalTokens.find(t.user.id, token.id)
  expect(rotated?.token.expires).toBe(t.now() + 3_600_000)
})

test('an administrator cannot verify a client that changed after the page was loaded', async () => {
  await using t = await startServer()
  const { clientId } = await t.client({ name: 'Harmless' })
  await t.server.users.setAdmin(t.user.id, true)
  const admin = await signedIn(t as never)
  const page = await (await admin.get(`/admin/applications/${clientId}/`)).text()
  const seen = /name="seen" value="([^"]+)"/.exec(page)?.[1] ?? ''
  expect(seen).not.toBe('')
  const verify = (value: string) =>
    admin.post('/admin/applications/', { client_id: clientId, act: 'verify', seen: value })
  await t.server.clients.update(clientId, { name: 'Official Bank' })
  expect((await verify(seen)).status).toBe(400)
  expect((await t.server.clients.find(clientId))?.isVerified).toBe(false)
  await t.server.clients.update(clientId, { name: 'Harmless' })
  expect((await verify(seen)).status).toBe(303)
  expect((await t.server.clients.find(clientId))?.isVerified).toBe(true)
})

test('a later update or a prefetch does not prevent the page from showing a new secret', async () => {
  await using t = await startServer()
  const { clientId } = await t.client()
  const person = await signedIn(t as never)
  const path = `${applications}/clients/${clientId}/`
  await person.post(`${path}reset/`)
  await person.post(path, { name: 'Another', redirect_uris: 'https://client.example/cb' })
  const shown = async (headers = {}) =>
    /data-copy="[^"]*"|id="client-secret"/.test(await (await person.get(path, headers)).text()) &&
    (await t.server.clients.find(clientId))?.name === 'Another'
  const body = await (await person.get(path, { 'sec-purpose': 'prefetch' })).text()
  expect(body).not.toMatch(/id="client-secret"/)
  expect(await shown()).toBe(true)
})

test('the redirect to the path with a trailing slash omits the access token of the query', async () => {
  await using t = await startServer()
  const response = await fetch(`${t.issuer}${applications}?access_token=secret&a=b`, {
    redirect: 'manual',
  })
  expect(response.headers.get('location')).toBe(`${applications}/?a=b`)
})

test('issues no tokens for scopes that the user has declined since the consent', async () => {
  await using t = await startServer()
  const { clientId } = await t.client()
  const client = await t.server.clients.find(clientId)
  if (!client) throw new Error('There is no client.')
  const scopes = ['notes:read', 'notes:write']
  const consent = await t.server.consents.grant(t.user.id, clientId, scopes)
  await t.server.consents.grant(t.user.id, clientId, ['notes:read'], { declined: ['notes:write'] })
  await expect(
    t.server.tokens.issue({
      type: 'user',
      client,
      subject: t.user,
      scopes,
      refreshable: true,
      under: { consentId: consent.id, sessionId: null, userAgent: '' },
    }),
  ).rejects.toThrow()
})

test('a form that is sent again has no second effect, even if the server could not store the notice', async () => {
  let failing = false
  await using t = await startServer({
    aroundStore: (operation, run) => {
      if (failing && operation.name === 'transients.set') throw new Error('The store fails.')
      return run()
    },
  })
  const person = await signedIn(t as never)
  const fields = { name: 'Once', form_id: 'a'.repeat(22) }
  const tokens = async () =>
    (await t.server.personalTokens.listByUser(t.user.id, { after: null, limit: 10 })).items.length
  failing = true
  expect((await person.post(`${applications}/tokens/new/`, fields)).status).toBe(200)
  failing = false
  // The second request waits for the result of the first. The test requires only that the second has no effect.
  const again = person.post(`${applications}/tokens/new/`, fields)
  // Fixed time: the request could be answered.
  expect(await Promise.race([again, pause(300, 'waits')])).toBe('waits')
  expect(await tokens()).toBe(1)
  again.catch(() => undefined)
})
