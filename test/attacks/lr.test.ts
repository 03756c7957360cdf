import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { at } from '../pages/settings/support.ts'
import { rawHttp } from '../support/raw-http.ts'
import { browser, logIn } from '../support/session.ts'
import { formIn, UserAgent } from '../support/user-agent.ts'
import { type AttackServer, expectLocal400, startAttackServer } from './support/attack-server.ts'

let attack: AttackServer
let based: AttackServer
beforeAll(async () => {
  attack = await startAttackServer()
  based = await startAttackServer({ basePath: '/app' })
})
afterAll(async () => {
  await attack.close()
  await based.close()
})

/** Returns every URL to which the login redirects for `next`, and the value of `next` in the login form. */
const ledTo = async (
  next: readonly string[],
  server: AttackServer = attack,
): Promise<readonly (string | undefined)[]> => {
  const pairs = next.map((value): [string, string] => ['next', value])
  const { user, password } = server.users.a
  const stranger = new UserAgent({ 'user-agent': browser })
  // If the value is too long for a URL, send it only in the form.
  const query = new URLSearchParams(pairs)
  const isTooLong = query.toString().length > 14_000
  const page = await server.request(isTooLong ? '/login' : `/login?${query}`, { agent: stranger })
  const { hidden } = formIn(page.text)
  const { agent } = await server.browser('a')
  const on = isTooLong ? undefined : await server.request(`/login?${query}`, { agent })
  const fields = { ...hidden, email: user.email, password }
  const kept = new URLSearchParams(fields)
  const forged = new URLSearchParams(fields)
  forged.delete('next')
  for (const [name, value] of pairs) forged.append(name, value)
  const failed = new URLSearchParams(forged)
  failed.set('password', 'wrong')
  const send = (body: URLSearchParams) =>
    server.request('/login', { agent: stranger, method: 'POST', body })
  // Advance the clock, so that the wrong passwords do not reach the limit.
  server.server.advance(120)
  const afterFailure = formIn((await send(failed)).text).hidden.next
  const responses = [await send(forged)]
  if (!isTooLong) {
    const csrf_token = formIn(
      (await server.request('/login?prompt=login', { agent: stranger })).text,
    ).hidden.csrf_token
    kept.set('csrf_token', csrf_token ?? '')
    responses.push(await send(kept))
  }
  for (const { status } of responses) expect(status).toBe(303)
  const led = [...responses.map(({ location }) => location), afterFailure]
  return on ? [...led, on.location, hidden.next] : led
}

describe('LR-01 Parameter next of the login [T535]', () => {
  test.each([
    'https://evil.example',
    'HTTPS://evil.example',
    '//evil.example',
    '///evil.example',
    '////evil.example',
    '\\\\evil.example',
    '\\/evil.example',
    '/\\evil.example',
    '/\\/evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/\r//evil.example',
    '\t//evil.example',
    ' //evil.example',
    '\u00A0//evil.example',
    'https:evil.example',
    'http:///evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    '%2f%2fevil.example',
    '@evil.example',
    '.evil.example',
    'evil.example',
    '?x',
    '#x',
    '',
    '/\u0000/evil.example',
    '/\r\nLocation: https://evil.example',
    '/\u2028/evil.example',
    '/\uFF0Fevil.example',
    '/x y',
    '"><script>alert(1)</script>',
    `/${'a'.repeat(20_000)}`,
  ])('redirects to the start page for %j', async (next) => {
    expect(new Set(await ledTo([next]))).toEqual(new Set(['/']))
  })

  test.each(['https://evil.example', '//evil.example', '/\\evil.example', ''])(
    'redirects to the start page below the path of the issuer for next=%j',
    async (next) => {
      expect(new Set(await ledTo([next], based))).toEqual(new Set(['/app/']))
    },
  )

  test('redirects to the start page if next is repeated', async () => {
    for (const two of [
      ['/a', '/b'],
      ['/a', '//evil.example'],
      ['//evil.example', '/a'],
    ])
      expect(new Set(await ledTo(two))).toEqual(new Set(['/']))
  })

  test.each([
    '/%0d%0aLocation:%20https://evil.example',
    '/%2f%2fevil.example',
    '/%09/evil.example',
    '/%5cevil.example',
    '/.//evil.example',
    '/..//evil.example',
    '/@evil.example',
    '/x?next=//evil.example',
    '/x#//evil.example',
    `/${'a'.repeat(10_000)}`,
  ])('redirects to the local path %s', async (next) => {
    expect(new Set(await ledTo([next]))).toEqual(new Set([next]))
    // Resolve the path like a browser, which removes dots but not additional slashes.
    expect(new URL(next, attack.issuer).origin).toBe(attack.issuer)
  })
})

describe('LR-03 Logout, error view, settings pages, and the authorization request in next', () => {
  const evil = 'https://evil.example/'
  const names = ['next', 'post_logout_redirect_uri', 'redirect_uri', 'return_to', 'url', 'continue']
  const away = new URLSearchParams(names.map((name): [string, string] => [name, evil]))

  test('redirects to the start page after the logout, with any parameters', async () => {
    for (const server of [attack, based]) {
      const { agent, csrfToken } = await server.newBrowser('a')
      const body = new URLSearchParams(away)
      body.set('csrf_token', csrfToken)
      const response = await server.request(`/logout?${away}`, { agent, method: 'POST', body })
      const start = server === based ? '/app/' : '/'
      expect([response.status, response.location]).toEqual([303, start])
    }
  })

  test('never redirects from the error view', async () => {
    const { agent } = await attack.browser('a')
    for (const who of [{}, { agent }]) {
      const page = await attack.request(`/oauth/errors?error=x&${away}`, who)
      expectLocal400(page)
      expect(page.text).not.toContain('evil.example')
    }
  })

  test('never redirects to another site from a settings page', async () => {
    const { agent, csrfToken } = await attack.browser('a')
    for (const path of [at.list, at.newToken, at.newClient, at.sessions, '/oauth/device', '/']) {
      const page = await attack.request(`${path}?${away}`, { agent })
      expect([page.status, page.location], path).toEqual([200, undefined])
      expect(page.text).not.toMatch(/(?:href|action|src)="https:\/\/evil/)
      const { location = '/' } = await attack.request(`${path}?${away}`)
      expect(new URL(location, attack.issuer).origin).toBe(attack.issuer)
    }
    const body = new URLSearchParams(away)
    body.set('csrf_token', csrfToken)
    body.set('name', 'Here')
    const made = await attack.request(`${at.newToken}?${away}`, { agent, method: 'POST', body })
    expect(made.location).toMatch(/^\/account\/settings\/applications\/tokens\/\d+\/$/)
  })

  test.each([
    '//evil.example/account/settings/applications',
    '/\\evil.example/account/settings/applications',
    '/account/settings/applications//evil.example',
    '//evil.example/%2f..',
    '/oauth//evil.example/..',
  ])('does not redirect %s to another host', async (target) => {
    const { status, headers } = await rawHttp(attack.server, { target })
    const location = headers.get('location') ?? '/'
    expect(status).toBeLessThan(500)
    expect(new URL(location, attack.issuer).origin).toBe(attack.issuer)
  })

  test.each<[string, string, string?]>([
    ['encoded separators', 'a%26b%3Dc%23d'],
    ['doubly encoded characters', 'a%2526%252B%2523'],
    ['a plus and a space', 'a+b%2Bc%20d'],
    ['lower-case percent encoding', '%c3%a9%f0%9f%98%80'],
    ['a line break', '%0D%0ASet-Cookie:x=1'],
    ['an invalid UTF-8 byte', '%ff'],
    ['a URL', 'https://evil.example/?next=//evil.example'],
    ['encoded parameters', '%26client_id%3Devil%26redirect_uri%3Dhttps%3A%2F%2Fevil.example'],
    ['2 KiB of encoded bytes', '%C3%A9'.repeat(1024)],
    // URL parsers encode an apostrophe in a query (URL Standard).
    ['an apostrophe', "it's", 'it%27s'],
  ])(
    'redirects to an equivalent authorization request after the login if the state contains %s',
    async (_, state, back = state) => {
      const { clientId } = attack.clients.imp
      const redirectUri = encodeURIComponent('https://imp.example/cb')
      const before = `response_type=code&client_id=${clientId}&scope=r&redirect_uri=${redirectUri}&state=`
      const first = await rawHttp(attack.server, { target: `/oauth/authorize?${before}${state}` })
      expect(first.status).toBe(303)
      const agent = new UserAgent({ 'user-agent': browser })
      const form = await attack.request(`${first.headers.get('location')}`, { agent })
      const { hidden } = formIn(form.text)
      const target = `/oauth/authorize?${before}${back}`
      expect(hidden.next).toBe(target)
      const { user, password } = attack.users.b
      // Advance the clock, so that the wrong passwords do not reach the limit.
      attack.server.advance(120)
      const send = (word: string) =>
        attack.request('/login', {
          agent,
          method: 'POST',
          body: new URLSearchParams({ ...hidden, email: user.email, password: word }),
        })
      // A wrong password does not change the request.
      expect(formIn((await send('wrong')).text).hidden.next).toBe(target)
      const response = await send(password)
      expect(response.location).toBe(target)
      const page = await attack.follow(response, agent)
      const decided = page.location ? page : await attack.submit(page, agent, { confirm: 'yes' })
      expect(decided.location?.startsWith('https://imp.example/cb?')).toBe(true)
      expect(decided.query.state).toBe(new URLSearchParams(`state=${state}`).get('state'))
    },
  )

  test('the redirect to the login contains no client secret or token of the authorization request', async () => {
    const { clientId, clientSecret } = attack.clients.imp
    const { value } = await attack.personalToken()
    for (const [name, secret] of [
      ['client_secret', clientSecret],
      ['%63lient_secret', clientSecret],
      ['access_token', value],
      ['access%5Ftoken', value],
    ] as const) {
      const target = `/oauth/authorize?client_id=${clientId}&${name}=${secret}&response_type=code`
      const { headers, text } = await rawHttp(attack.server, { target })
      expect(headers.get('location')).toContain(clientId)
      expect(`${headers.get('location')}${text}`).not.toContain(secret)
    }
  })

  test('redirects to the requested page if the user is already logged in', async () => {
    const { agent } = await logIn({ issuer: attack.issuer, ...attack.users.m })
    const { pathname, search } = new URL(attack.authorizeUrl({ state: 'a&b=c#d' }))
    const login = `/login?${new URLSearchParams({ next: `${pathname}${search}` })}`
    const { location } = await attack.request(login, { agent })
    expect(location).toBe(`${pathname}${search}`)
  })
})
