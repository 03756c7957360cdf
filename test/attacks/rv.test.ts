import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rawHttp } from '../support/raw-http.ts'
import { browser } from '../support/session.ts'
import { type AttackServer, startAttackServer } from './support/attack-server.ts'

let it: AttackServer
beforeAll(async () => {
  it = await startAttackServer()
})
afterAll(() => it?.close())

describe('RV-09 An empty access_token is a credential that is not valid', () => {
  const queries = ['?access_token=', '?access_token', '?access_token=&access_token=']
  const ask = async (at: AttackServer, path: string, headers: readonly string[]) => {
    const target = new URL(at.issuer).pathname.replace(/\/$/, '') + path
    const { status } = await rawHttp(at.server, { target, headers })
    return status
  }

  test('alone and beside a session cookie', async () => {
    const { cookie } = await it.browser('a')
    const browsers = [[], [`Cookie: ${cookie}`, `User-Agent: ${browser}`]]
    for (const headers of browsers)
      for (const path of ['/api/me', '/api/public', '/oauth/ping', '/oauth/info'])
        for (const query of queries)
          expect([400, 401], path + query).toContain(await ask(it, path + query, headers))
  })

  test('beside a session and its JWT in a header of its own', async () => {
    await using other = await startAttackServer({
      jwtAuthHeader: 'X-Session-JWT',
      jwtAuthHeaderType: null,
    })
    const { cookie, jwt } = await other.browser('a')
    const headers = [`Cookie: ${cookie}`, `User-Agent: ${browser}`, `X-Session-JWT: ${jwt}`]
    expect(await ask(other, '/api/me', headers)).toBe(200)
    for (const path of ['/api/me', '/api/public'])
      for (const query of queries)
        expect([400, 401], path + query).toContain(await ask(other, path + query, headers))
    for (const authorization of ['Bearer', 'Bearer '])
      expect(await ask(other, '/api/public', [...headers, `Authorization: ${authorization}`])).toBe(
        401,
      )
  })
})
