import { createAuthorizationServer } from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { expect, test } from 'vitest'
import { startServer } from '../support/server.ts'

const safari =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15'
const chrome =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'
const firefox =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:144.0) Gecko/20100101 Firefox/144.0'
const edge = `${chrome} Edg/142.0.0.0`

const warning = 'Safari cannot log in at an address that begins with http://.'

test('the login page warns Safari over http, because Safari ignores the session cookie [T1805]', async () => {
  await using app = await startServer()
  const login = async (userAgent: string, language = 'en'): Promise<string> => {
    const headers = { 'user-agent': userAgent, 'accept-language': language }
    return (await fetch(`${app.issuer}/login`, { headers })).text()
  }
  expect(await login(safari)).toContain(warning)
  expect(await login(safari, 'de')).toContain('Safari kann sich an einer Adresse')
  for (const other of [chrome, firefox, edge, 'curl/8.0']) {
    expect(await login(other)).not.toContain(warning)
  }
  // The login itself is possible, for instance because the text of the header is wrong.
  expect(await login(safari)).toContain('<button type="submit">')
})

test('the login page does not warn Safari over https [T1806]', async () => {
  await using server = await createAuthorizationServer({
    issuer: 'https://notes.example',
    secretKeys: ['a secret key of more than thirty-two bytes'],
    store: sqlite(':memory:'),
    scopes: [],
    log: () => undefined,
  }).then((made) => Object.assign(made, { [Symbol.asyncDispose]: () => made.close() }))
  const headers = { 'user-agent': safari }
  const response = await server.fetch(new Request('https://notes.example/login', { headers }))
  expect(response.status).toBe(200)
  expect(await response.text()).not.toContain(warning)
})
