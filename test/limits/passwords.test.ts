import { type AroundStore, StoreUnavailable, type User } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { KeyRing } from '../../src/crypto/sealed.ts'
import { basicOf, postForm } from '../support/form.ts'
import { storeOf } from '../support/internals.ts'
import { sealedAtFullCost } from '../support/known-password.ts'
import { textsIn } from '../support/languages.ts'
import { secretKey, startServer, type TestServer } from '../support/server.ts'
import { browser } from '../support/session.ts'
import { formIn, UserAgent } from '../support/user-agent.ts'
import {
  from,
  guesser,
  here,
  loginForm,
  elsewhere as other,
  reached,
  start,
  waitOf,
} from './support.ts'

const limits = {
  wrongPasswordsOfAccount: { points: 3, seconds: 600 },
  wrongPasswords: { points: 8, seconds: 600 },
}

/** Replaces the hash of a user by one of full cost, so that concurrent logins overlap as in production. */
const setFullCost = async ({ server }: TestServer, user: User): Promise<void> => {
  const passwordHash = await sealedAtFullCost(new KeyRing([secretKey]), user)
  await storeOf(server).users.update({ id: user.id }, { passwordHash })
}

describe('wrong passwords at the login page (RFC 6819 §5.1.4.2.3)', () => {
  test('for one account from one address cause 429 and the login form for every further password [T090]', async () => {
    await using app = await start({ limits })
    const guess = guesser(app, here)
    for (let wrong = 0; wrong < 3; wrong += 1)
      expect((await guess(`guess ${wrong}`)).status).toBe(403)
    const refused = await guess(app.password)
    expect(refused.status).toBe(429)
    expect(waitOf(refused)).toBeGreaterThan(0)
    expect(waitOf(refused)).toBeLessThanOrEqual(600)
    const html = await refused.text()
    expect(html).toContain('Too many wrong passwords')
    expect(html).toContain('name="password"')
    expect(html).toContain(app.user.email)
    expect(refused.headers.get('set-cookie') ?? '').not.toContain('Max-Age')
    app.advance(600)
    expect((await guess(app.password)).status).toBe(303)
  })

  test('do not prevent a login of the user from another IP address', async () => {
    await using app = await start({ limits })
    for (let wrong = 0; wrong < 5; wrong += 1) await guesser(app, here)(`guess ${wrong}`)
    expect((await guesser(app, here)(app.password)).status).toBe(429)
    expect((await guesser(app, other)(app.password)).status).toBe(303)
  })

  test('from all IP addresses of a /48 or /24 network are counted together', async () => {
    await using app = await start({ limits })
    for (let wrong = 0; wrong < 3; wrong += 1)
      expect((await guesser(app, `2001:db8:0:1::${wrong + 1}`)('guess')).status).toBe(403)
    expect((await guesser(app, '2001:db8:0:2::9')(app.password)).status).toBe(429)
    expect((await guesser(app, '2001:db8:1::1')(app.password)).status).toBe(303)
    for (let wrong = 0; wrong < 3; wrong += 1)
      expect((await guesser(app, `192.0.2.${wrong + 1}`)('guess')).status).toBe(403)
    expect((await guesser(app, '192.0.2.99')(app.password)).status).toBe(429)
    expect((await guesser(app, other)(app.password)).status).toBe(303)
  })

  test('are still counted after a correct password of an unknown browser, but correct passwords are not counted', async () => {
    await using app = await start({ limits })
    const guess = (password: string) => guesser(app, here)(password)
    for (let right = 0; right < 6; right += 1) expect((await guess(app.password)).status).toBe(303)
    for (const wrong of ['1', '2']) expect((await guess(wrong)).status).toBe(403)
    expect((await guess(app.password)).status).toBe(303)
    expect((await guess('3')).status).toBe(403)
    expect((await guess('4')).status).toBe(429)
  })

  test('are counted together for all spellings of an account, and are also counted for unknown accounts', async () => {
    await using app = await start({ limits })
    const guess = guesser(app, here)
    const { email } = app.user
    for (const written of [email, email.toUpperCase(), ` ${email} `])
      expect((await guess('wrong', written)).status).toBe(403)
    expect((await guess('wrong', email)).status).toBe(429)
    for (let wrong = 0; wrong < 3; wrong += 1)
      expect((await guess('wrong', 'nobody@example.org')).status).toBe(403)
    expect((await guess('wrong', 'nobody@example.org')).status).toBe(429)
  })

  test('are limited to three even if they are sent concurrently', async () => {
    await using app = await start({ limits })
    await setFullCost(app, app.user)
    const guess = guesser(app, here)
    await guess('first')
    const responses = await Promise.all(Array.from({ length: 12 }, (_, index) => guess(`${index}`)))
    const statuses = responses.map(({ status }) => status)
    expect(statuses.filter((status) => status === 403)).toHaveLength(2)
    expect(statuses.filter((status) => status === 429)).toHaveLength(10)
  })

  test('at many accounts are limited even if they are sent concurrently, and do not prevent a later login', async () => {
    await using app = await start({ limits })
    const guess = guesser(app, here)
    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, index) => guess('wrong', `user-${index}@example.org`)),
    )
    const statuses = responses.map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([403, 429]))
    expect(statuses.filter((status) => status === 403).length).toBeLessThan(16)
    expect((await guess(app.password)).status).toBe(429)
    app.advance(600)
    const right = await Promise.all([guess(app.password), guess(app.password)])
    expect(right.map(({ status }) => status)).toEqual([303, 303])
  })

  test('for many accounts prevent further logins only from the address that sent them', async () => {
    await using app = await start({ limits })
    const guess = guesser(app, here)
    for (let account = 0; account < 8; account += 1)
      expect((await guess('wrong', `user-${account}@example.org`)).status).toBe(403)
    const refused = await guess(app.password)
    expect(refused.status).toBe(429)
    expect(waitOf(refused)).toBeGreaterThan(0)
    expect((await guesser(app, other)(app.password)).status).toBe(303)
    app.advance(600)
    expect((await guess(app.password)).status).toBe(303)
  })

  test('cause a JSON response to a script', async () => {
    await using app = await start({ limits })
    const guess = guesser(app, here)
    for (let wrong = 0; wrong < 3; wrong += 1) await guess('wrong')
    const page = await fetch(`${app.issuer}/login`, { headers: from(here) })
    const cookie = page.headers.get('set-cookie')?.split(';')[0] ?? ''
    const [, csrf_token = ''] = /name="csrf_token" value="([^"]+)"/.exec(await page.text()) ?? []
    const response = await postForm(
      `${app.issuer}/login`,
      { email: app.user.email, password: 'wrong', csrf_token },
      { ...from(here), cookie, accept: 'application/json' },
    )
    expect([response.status, response.body.error]).toEqual([429, 'temporarily_unavailable'])
    expect(waitOf(response)).toBeGreaterThan(0)
  })

  test.each(['de', 'ar', 'ja'])(
    'cause a message in the language of the reader: %s',
    async (lang) => {
      await using app = await start({ limits })
      const guess = guesser(app, here)
      for (let wrong = 0; wrong < 3; wrong += 1) await guess('wrong')
      const sentence = textsIn(lang).login.tooMany
      const page = await fetch(`${app.issuer}/login`, { headers: from(here) })
      const cookie = page.headers.get('set-cookie')?.split(';')[0] ?? ''
      const [, csrf_token = ''] = /name="csrf_token" value="([^"]+)"/.exec(await page.text()) ?? []
      const body = new URLSearchParams({ email: app.user.email, password: 'wrong', csrf_token })
      const headers = { ...from(here), cookie, 'accept-language': lang }
      const response = await fetch(`${app.issuer}/login`, { method: 'POST', body, headers })
      expect(response.status).toBe(429)
      expect(await response.text()).toContain(sentence)
    },
  )

  test('are not counted if the form has no CSRF token or no password', async () => {
    await using app = await start({ limits })
    const guess = guesser(app, here)
    const body = new URLSearchParams({ email: app.user.email, password: 'wrong' })
    for (let times = 0; times < 5; times += 1) {
      await fetch(`${app.issuer}/login`, { method: 'POST', body, headers: from(here) })
      await guess('')
    }
    expect((await guess(app.password)).status).toBe(303)
  })

  test('cause one log entry per network and reached limit, without the account', async () => {
    await using app = await start({ limits })
    for (let wrong = 0; wrong < 7; wrong += 1) await guesser(app, here)('wrong')
    for (let wrong = 0; wrong < 4; wrong += 1) await guesser(app, other)('wrong')
    expect(reached(app)).toEqual([
      ['wrongPasswordsOfAccount', '192.0.2.0/24'],
      ['wrongPasswordsOfAccount', '198.51.100.0/24'],
    ])
    const told = app.log.filter(({ event }) => event === 'limit.reached')
    expect(JSON.stringify(told)).not.toContain(app.user.email)
    app.advance(600)
    for (let wrong = 0; wrong < 4; wrong += 1) await guesser(app, here)('wrong')
    expect(reached(app)).toHaveLength(3)
  })

  test('are stored in counters that the sweeper deletes after their expiry', async () => {
    await using app = await start({ limits })
    for (let wrong = 0; wrong < 8; wrong += 1)
      await guesser(app, here)('wrong', `user-${wrong}@example.org`)
    const rows = () => app.query("select key from oauth2server_transient where key like 'limit:%'")
    expect((await rows()).length).toBeGreaterThan(0)
    expect(JSON.stringify(await rows())).not.toMatch(/192\.0\.2|example\.org/)
    app.advance(1_200)
    await app.server.sweep()
    expect(await rows()).toEqual([])
  })
})

test('120 concurrent wrong passwords do not prevent the logins of 12 known browsers [T592]', async () => {
  await using app = await start()
  const emails = Array.from({ length: 12 }, (_, index) => `owner-${index}@example.org`)
  const owners = []
  for (const [index, email] of emails.entries()) {
    await setFullCost(app, await app.newUser({ email }))
    const open = loginForm(app, `198.51.100.${index + 1}`)
    expect((await (await open(app.password, email))()).status).toBe(303)
    owners.push(await open(app.password, email))
  }
  // Open all pages first, so that the order of the responses depends only on the queue of passwords.
  const guesses = []
  for (let index = 0; index < 120; index += 1) {
    const open = loginForm(app, `2001:db8:1:${index.toString(16)}::1`)
    guesses.push(await open('guess', `m${index}@example.org`))
  }
  const order: string[] = []
  const answered = (who: string) => (response: Response) => {
    order.push(who)
    return response.status
  }
  const strangers = guesses.map((guess) => guess().then(answered('stranger')))
  await expect.poll(() => order.length).toBeGreaterThan(0)
  const earlier = order.length
  const statuses = await Promise.all(owners.map((logIn) => logIn().then(answered('owner'))))
  expect(statuses).toEqual(Array(12).fill(303))
  const before = order
    .slice(earlier, order.lastIndexOf('owner'))
    .filter((who) => who === 'stranger')
  expect(before.length).toBeLessThan(100)
  expect(new Set(await Promise.all(strangers))).toEqual(new Set([403]))
})

test('new passwords from one network do not delay the new password of a user in another network [T4404]', async () => {
  const links: string[] = []
  await using app = await start({ signUp: true, sendUserLink: ({ url }) => void links.push(url) })
  const request = async (path: string, address: string, email: string) => {
    const agent = new UserAgent({ 'user-agent': browser, ...from(address) })
    await agent.submit(await agent.browse(`${app.issuer}${path}`), { email })
    await expect.poll(() => links.length).toBe(1)
    const page = await agent.browse(links.pop() ?? '')
    const { action, hidden } = formIn(await page.text())
    return (new_password: string) =>
      agent.fetch(new URL(action, app.issuer), {
        method: 'POST',
        body: new URLSearchParams({ ...hidden, new_password }),
      })
  }
  const signUp = await request('/login/sign-up', here, 'many@example.org')
  const reset = await request('/login/forgot-password', other, app.user.email)
  const order: string[] = []
  const answered = (who: string) => (response: Response) => {
    order.push(who)
    return response.status
  }
  const many = Array.from({ length: 40 }, (_, index) =>
    signUp(`a new password ${index}`).then(answered('many')),
  )
  await expect.poll(() => order.length).toBeGreaterThan(0)
  const earlier = order.length
  expect(await reset('a new and better password').then(answered('user'))).toBe(303)
  expect(order.slice(earlier, order.indexOf('user')).length).toBeLessThan(10)
  await Promise.all(many)
})

describe('wrong passwords in the password grant (RFC 6749 §4.3.2)', () => {
  const allowedGrantTypes = ['password', 'refresh_token'] as const
  const grant = async (app: TestServer, password: string, address: string = here) => {
    const client = await clientOf(app)
    const fields = { grant_type: 'password', username: app.user.email, password }
    return postForm(`${app.issuer}/oauth/token`, fields, { ...basicOf(client), ...from(address) })
  }
  const clients = new WeakMap<TestServer, ReturnType<TestServer['client']>>()
  const clientOf = (app: TestServer) => {
    const client = clients.get(app) ?? app.client()
    clients.set(app, client)
    return client
  }

  test('are counted together with wrong passwords at the login page [T063]', async () => {
    await using app = await start({ limits, allowedGrantTypes })
    expect((await guesser(app, here)('wrong')).status).toBe(403)
    for (let wrong = 0; wrong < 2; wrong += 1) expect((await grant(app, 'wrong')).status).toBe(400)
    const refused = await grant(app, app.password)
    expect([refused.status, refused.body.error]).toEqual([429, 'temporarily_unavailable'])
    expect(waitOf(refused)).toBeGreaterThan(0)
    expect((await guesser(app, here)(app.password)).status).toBe(429)
    expect((await grant(app, app.password, other)).status).toBe(200)
  })

  test('are not hashed if the request is rejected', async () => {
    const asked: string[] = []
    await using app = await start({
      limits,
      allowedGrantTypes,
      getUser: (email, password, next) => {
        asked.push(password)
        return next(email, password)
      },
    })
    for (let wrong = 0; wrong < 6; wrong += 1) await grant(app, `guess ${wrong}`)
    expect(asked).toEqual(['guess 0', 'guess 1', 'guess 2'])
  })

  test('are not counted if the password check throws an error', async () => {
    let isBroken = true
    await using app = await start({
      limits,
      allowedGrantTypes,
      getUser: (email, password, next) => {
        if (isBroken) throw new StoreUnavailable('away')
        return next(email, password)
      },
    })
    for (let times = 0; times < 6; times += 1)
      expect((await grant(app, app.password)).status).toBe(503)
    isBroken = false
    expect((await grant(app, app.password)).status).toBe(200)
  })
})

test('wrong passwords are still counted if the shared counters are unavailable [T064]', async () => {
  let isAway = false
  const aroundStore: AroundStore = ({ name }, run) => {
    if (isAway && name.startsWith('transients.')) throw new StoreUnavailable('gone')
    return run()
  }
  await using app = await start({ limits, aroundStore })
  const guess = (password: string) => guesser(app, here)(password)
  isAway = true
  for (let right = 0; right < 5; right += 1) expect((await guess(app.password)).status).toBe(303)
  for (let wrong = 0; wrong < 3; wrong += 1) expect((await guess('wrong')).status).toBe(403)
  const refused = await guess(app.password)
  expect(refused.status).toBe(429)
  expect(waitOf(refused)).toBeGreaterThan(0)
  expect((await guesser(app, other)(app.password)).status).toBe(303)
})

test('wrong passwords are counted by two nodes together', async () => {
  await using app = await start({ limits })
  await using node = await startServer({ beside: app, limits, trustedProxies: ['127.0.0.1'] })
  expect((await guesser(app, here)('wrong')).status).toBe(403)
  expect((await guesser(node, here)('wrong')).status).toBe(403)
  expect((await guesser(app, here)('wrong')).status).toBe(403)
  for (const at of [app, node]) expect((await guesser(at, here)(app.password)).status).toBe(429)
})

test('dangerouslyIgnoreLimits allows unlimited guesses and warns at start-up', async () => {
  await using app = await start({ limits, dangerouslyIgnoreLimits: true })
  for (let wrong = 0; wrong < 5; wrong += 1)
    expect((await guesser(app, here)('wrong')).status).toBe(403)
  const warned = app.log.filter(({ event }) => event === 'settings.loosened')
  expect(warned.map(({ message }) => message).join()).toContain('Limits are ignored')
})
