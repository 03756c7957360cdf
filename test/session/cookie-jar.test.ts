import { describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/crypto/random.ts'
import { CookieJar } from '../../src/protocol/session/cookie-jar.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { browser } from '../support/session.ts'
import { formIn } from '../support/user-agent.ts'

const issuers = ['http://localhost:3000', 'http://localhost:4000', 'http://localhost:3000/app']

describe('session cookies of several servers on one host', () => {
  test('the second server uses another name, and reads only its own cookie', () => {
    for (const one of issuers)
      for (const other of issuers.filter((issuer) => issuer !== one)) {
        const [first, second] = [new CookieJar(one), new CookieJar(other)]
        const shared = `oauth2server_session=${first.newIdentifier(systemRandom)}`
        expect(first.session(shared).name).toBe('oauth2server_session')
        const seen = second.session(shared)
        expect(seen.identifier).toBeUndefined()
        expect(seen.name).toMatch(/^oauth2server_session_[A-Za-z0-9]{6}$/)
        const own = second.newIdentifier(systemRandom)
        const both = `${shared}; ${seen.name}=${own}`
        expect(second.session(both)).toMatchObject({ identifier: own, name: seen.name })
        expect(first.session(both)).toEqual(first.session(shared))
        // The own cookie remains valid after the other server cleared its cookie.
        expect(second.session(`${seen.name}=${own}`)).toMatchObject({
          identifier: own,
          name: seen.name,
        })
      }
  })

  test('ignores two cookies of this server, and every text that no server created', () => {
    const jar = new CookieJar(issuers[0] ?? '')
    const name = 'oauth2server_session'
    const [one, two] = [jar.newIdentifier(systemRandom), jar.newIdentifier(systemRandom)]
    const ownName = new CookieJar(issuers[0] ?? '').session(
      `${name}=${new CookieJar(issuers[1] ?? '').newIdentifier(systemRandom)}`,
    ).name
    for (const cookie of [`${name}=${one}; ${name}=${two}`, `${name}=${one}; ${ownName}=${two}`])
      expect(jar.session(cookie).identifier).toBeUndefined()
    // An identifier of an earlier version has no checksum.
    const former = 'A'.repeat(43)
    expect(jar.session(`${name}=${former}`)).toMatchObject({ identifier: former, name })
    for (const value of ['', 'x', 'A'.repeat(44)])
      expect(jar.session(`${name}=${value}`)).toMatchObject({ identifier: undefined, name })
  })
})

/** A browser that shares its cookies between all servers of the host, regardless of port and path. */
class Browser {
  readonly cookies = new Map<string, string>()

  async fetch(url: string, body?: URLSearchParams): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie, 'user-agent': browser },
      ...(body && { method: 'POST', body }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/max-age=0/i.test(line)) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return response
  }

  async logIn({ issuer, user, password }: TestServer): Promise<void> {
    const { hidden } = formIn(await (await this.fetch(`${issuer}/login`)).text())
    const fields = { ...hidden, email: user.email, password }
    expect((await this.fetch(`${issuer}/login`, new URLSearchParams(fields))).status).toBe(303)
  }

  async isLoggedIn({ issuer }: TestServer): Promise<boolean> {
    return (await this.fetch(`${issuer}/account/settings/applications/`)).status === 200
  }

  async logOut({ issuer }: TestServer): Promise<void> {
    const page = await this.fetch(`${issuer}/account/settings/applications/`)
    const { hidden } = formIn(await page.text())
    const body = new URLSearchParams({ csrf_token: hidden.csrf_token ?? '' })
    expect((await this.fetch(`${issuer}/logout`, body)).status).toBe(303)
  }
}

describe('two servers on one host', () => {
  test.each([
    ['ports', '', ''],
    ['paths', '/one', '/two'],
  ])('with different %s keep both sessions of a browser [T3918]', async (_, path, otherPath) => {
    await using one = await startServer({ basePath: path })
    await using two = await startServer({ basePath: otherPath })
    const agent = new Browser()
    await agent.logIn(one)
    await agent.logIn(two)
    const both = async () => [await agent.isLoggedIn(one), await agent.isLoggedIn(two)]
    expect(await both()).toEqual([true, true])
    await agent.logOut(one)
    expect(await both()).toEqual([false, true])
    // The second click on the button of the logout finds the cookie of the other server only.
    const again = new URLSearchParams({ csrf_token: 'former' })
    expect((await agent.fetch(`${one.issuer}/logout`, again)).status).toBe(303)
    await agent.logIn(one)
    expect(await both()).toEqual([true, true])
    await agent.logOut(two)
    expect(await both()).toEqual([true, false])
    // Each server still recognizes the browser after the logout, for its limit of wrong passwords.
    expect([...agent.cookies.keys()].filter((name) => name.includes('known'))).toHaveLength(2)
  })
})
