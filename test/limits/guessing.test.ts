import { postgres } from 'svc-oauth2server/postgres'
import { redis } from 'svc-oauth2server/redis'
import { describe, expect, test } from 'vitest'
import { Limits } from '../../src/records/limits.ts'
import { limitTable } from '../../src/settings/limit-table.ts'
import { looseningWarnings } from '../../src/settings/loosening-warnings.ts'
import { parseSettings } from '../../src/settings/parse-settings.ts'
import { storeOf } from '../support/internals.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import { newPrefix, removeKeys, sharedRedis } from '../support/redis.ts'
import type { TestServer } from '../support/server.ts'
import { browser } from '../support/session.ts'
import { UserAgent } from '../support/user-agent.ts'
import { elsewhere, from, guesser, here, reached, start } from './support.ts'

/** Low limits, because hashing for unknown accounts has the full cost. */
const limits = {
  wrongPasswordsOfAccount: { points: 2, seconds: 600 },
  guessesOfAccount: { points: 3, seconds: 600 },
  wrongPasswordsOfKnownBrowser: { points: 2, seconds: 600 },
  wrongPasswordsOfNetwork: { points: 8, seconds: 600 },
}

/** Returns an IP address in the given /48 network. Each `number` is in a different /64 network. */
const inNetwork = (network: number, number = 0): string =>
  `2001:db8:${network.toString(16)}:${number.toString(16)}::1`

/** Sends one wrong password from each address. @returns the statuses */
const guessFrom = async (
  app: TestServer,
  addresses: readonly string[],
  email = app.user.email,
): Promise<readonly number[]> => {
  const statuses: number[] = []
  for (const address of addresses)
    statuses.push((await guesser(app, address)('a wrong guess', email)).status)
  return statuses
}

/** Guesses from unknown browsers until the limit of the account is reached. */
const lock = (app: TestServer, email?: string): Promise<readonly number[]> =>
  guessFrom(
    app,
    [1, 2, 3].map((network) => inNetwork(network)),
    email,
  )

/** Opens the login page in a new browser, which stores its cookies. */
const newBrowser = (app: TestServer, address: string = elsewhere) => {
  const agent = new UserAgent({ 'user-agent': browser, ...from(address) })
  return {
    agent,
    async tries(password: string, email = app.user.email): Promise<Response> {
      const page = await agent.browse(`${app.issuer}/login?prompt=login`)
      return agent.submit(page, { email, password })
    },
  }
}

const cookieName = 'oauth2server_known'

const knownCookie = async (app: TestServer, { agent }: { agent: UserAgent }): Promise<string> => {
  const cookies = await agent.jar.getCookies(app.issuer)
  return cookies.find(({ key }) => key === cookieName)?.value ?? ''
}

/** Returns a browser that has logged in before. */
const knownBrowser = async (app: TestServer, address?: string) => {
  const known = newBrowser(app, address)
  expect((await known.tries(app.password)).status).toBe(303)
  return known
}

/** Returns a new browser with this cookie. */
const browserWith = async (app: TestServer, cookie: string) => {
  const other = newBrowser(app)
  await other.agent.jar.setCookie(`${cookieName}=${cookie}; Path=/`, app.issuer)
  return other
}

describe('password guesses at one account', () => {
  test('from a /48 network are rejected at the limit of the network, but a new browser in another network can log in [T584]', async () => {
    await using app = await start()
    const addresses = Array.from({ length: 20 }, (_, index) => inNetwork(1, index * 3_203))
    const statuses = await guessFrom(app, addresses)
    expect(statuses.filter((status) => status === 403)).toHaveLength(
      limitTable.wrongPasswordsOfAccount.points,
    )
    expect(statuses.slice(-10)).toEqual(Array(10).fill(429))
    expect((await newBrowser(app).tries(app.password)).status).toBe(303)
  })

  test('from any number of networks are rejected at the limit of the account for ten minutes [T585]', async () => {
    await using app = await start({ limits })
    for (let round = 0; round < 2; round += 1) {
      const networks = Array.from({ length: 12 }, (_, index) => inNetwork(round * 100 + index))
      const statuses = await guessFrom(app, networks)
      expect(statuses.filter((status) => status === 403)).toHaveLength(3)
      expect(statuses.slice(3)).toEqual(Array(9).fill(429))
      app.advance(600)
    }
  })

  test('are limited to 96 in any hour, regardless of the times at which they are sent [T827]', async () => {
    await using app = await start()
    const began = app.now()
    const counters = new Limits(storeOf(app.server).transients, app.now)
    const account = { address: '', target: `login ${app.user.email}` }
    // The test repeats a rejected guess after one of these pauses. Some pauses are shorter than the required wait.
    const pauses = [1, 7_001, 29_999, 600_000, 13_000, 1_000, 17, 61_000]
    const guesses: number[] = []
    for (let round = 0; round < 1_500; round += 1) {
      await counters.attempt('guessesOfAccount', account.address, account.target).then(
        () => guesses.push(app.now() - began),
        () => app.advance((pauses[round % pauses.length] ?? 0) / 1000),
      )
    }
    const inHourFrom = (from: number) =>
      guesses.filter((at) => at >= from && at < from + 3_600_000).length
    expect(guesses.at(-1)).toBeGreaterThan(3 * 3_600_000)
    expect(Math.max(...guesses.map(inHourFrom))).toBeLessThanOrEqual(96)
    // The number of guesses is close to the limit, so the test would detect a higher limit.
    expect(Math.max(...guesses.map(inHourFrom))).toBeGreaterThan(80)
  })

  test('are limited to 100 in any hour by default, and a higher limit causes a warning [T586]', () => {
    const { points, seconds } = limitTable.guessesOfAccount
    // The server counts each guess for exactly `seconds`.
    expect(points * Math.ceil(3_600 / seconds)).toBeLessThanOrEqual(100)
    const warned = (guessesOfAccount: { points: number; seconds: number }) =>
      looseningWarnings(parseSettings({ limits: { guessesOfAccount } })).join()
    expect(warned({ points: 17, seconds: 600 })).toContain('guessesOfAccount')
    expect(warned({ points: 16, seconds: 599 })).toContain('guessesOfAccount')
    expect(warned({ points: 100, seconds: 3_600 })).not.toContain('guessesOfAccount')
    expect(looseningWarnings(parseSettings({})).join()).not.toContain('guessesOfAccount')
  })

  test('at many accounts from one network are rejected, but a known browser in this network can log in [T593]', async () => {
    await using app = await start({ limits })
    const known = await knownBrowser(app, inNetwork(7, 1))
    for (let account = 0; account < 8; account += 1)
      await guessFrom(app, [inNetwork(7, account)], `user-${account}@example.org`)
    expect((await newBrowser(app, inNetwork(7, 99)).tries(app.password)).status).toBe(429)
    expect((await known.tries(app.password)).status).toBe(303)
    expect((await newBrowser(app).tries(app.password)).status).toBe(303)
    expect(reached(app)).toContainEqual(['wrongPasswordsOfNetwork', '2001:db8:7::/48'])
  })

  test('at an unknown account cause the same responses as guesses at a known account [T595]', async () => {
    await using app = await start({ limits })
    const addresses = [0, 0, 0, 1, 2, 3].map((network) => inNetwork(network))
    const responses = async (email: string) => {
      const seen: unknown[] = []
      for (const address of addresses) {
        const response = await guesser(app, address)('a wrong guess', email)
        const headers = [...response.headers]
          .filter(([name]) => !['date', 'content-length', 'x-request-id', 'etag'].includes(name))
          .map(([name, value]) => [name, value.replace(/session=[^;]+/, 'session=')])
        const html = (await response.text())
          .replaceAll(email, 'E-MAIL')
          .replaceAll(/value="[\w-]{22,}"/g, 'value=""')
        seen.push([response.status, headers, html])
      }
      return seen
    }
    const known = await responses(app.user.email)
    expect(known.map((seen) => (seen as [number])[0])).toEqual([403, 403, 429, 403, 429, 429])
    expect(await responses('nobody@example.org')).toEqual(known)
  })

  test('are stored in rows that expire and contain neither IP addresses nor e-mail addresses', async () => {
    await using app = await start({ limits })
    await lock(app)
    await lock(app, 'nobody@example.org')
    const rows = () => app.query("select * from oauth2server_transient where key like 'limit:%'")
    // Each guess adds at most one row for its account and one row for its network. A network has at most one counter.
    expect((await rows()).length).toBeLessThanOrEqual(2 * 6 + 2 * 3)
    expect(JSON.stringify(await rows())).not.toMatch(/2001:db8|example\.org/)
    app.advance(1_200)
    await app.server.sweep()
    expect(await rows()).toEqual([])
  })
})

describe('a browser that logged in before', () => {
  test('can log in while unknown browsers guess the password of its account [T587]', async () => {
    await using app = await start({ limits })
    const known = await knownBrowser(app)
    expect(await lock(app)).toEqual([403, 403, 403])
    expect((await newBrowser(app).tries(app.password)).status).toBe(429)
    expect((await known.tries(app.password)).status).toBe(303)
    expect((await known.tries(app.password)).status, 'with its renewed cookie').toBe(303)
  })

  test('remains known for 90 days, also after a logout', async () => {
    await using app = await start({ limits })
    const known = await knownBrowser(app)
    const page = await (await known.agent.fetch(`${app.issuer}/`)).text()
    const csrf_token = /name="csrf_token" value="([^"]+)"/.exec(page)?.[1] ?? ''
    const body = new URLSearchParams({ csrf_token })
    await known.agent.fetch(`${app.issuer}/logout`, { method: 'POST', body })
    app.advance(90 * 86_400 - 60)
    await lock(app)
    expect((await known.tries(app.password)).status).toBe(303)
    const cookie = await knownCookie(app, known)
    app.advance(90 * 86_400)
    await lock(app)
    expect((await (await browserWith(app, cookie)).tries(app.password)).status).toBe(429)
  })

  test('has its own counter, so that its wrong passwords do not lock out other browsers [T588]', async () => {
    await using app = await start({ limits })
    const known = await knownBrowser(app)
    const other = await knownBrowser(app)
    const copy = await browserWith(app, await knownCookie(app, known))
    expect((await known.tries('wrong')).status).toBe(403)
    expect((await copy.tries('wrong')).status).toBe(403)
    for (const { tries } of [known, copy]) expect((await tries(app.password)).status).toBe(429)
    expect((await other.tries(app.password)).status).toBe(303)
    expect((await newBrowser(app).tries(app.password)).status).toBe(303)
    app.advance(600)
    expect((await known.tries(app.password)).status).toBe(303)
  })

  test('receives a cookie that scripts cannot read', async () => {
    await using app = await start()
    const response = await newBrowser(app).tries(app.password)
    const [cookie = ''] = response.headers.getSetCookie().filter((each) => each.includes('known'))
    expect(cookie).toMatch(
      /^oauth2server_known=[\w.-]+; Max-Age=7776000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    )
    expect(app.server.issuer.startsWith('http:')).toBe(true)
    expect((await guesser(app, here)('wrong')).headers.getSetCookie().join()).not.toContain('known')
  })

  test('remains known for up to five accounts', async () => {
    await using app = await start({ limits })
    const known = newBrowser(app)
    const users = []
    for (let index = 0; index < 6; index += 1)
      users.push(await app.newUser({ email: `user-${index}@example.org` }))
    for (const { email } of users) expect((await known.tries(app.password, email)).status).toBe(303)
    expect((await knownCookie(app, known)).length).toBeLessThan(3_000)
    const [oldest, next] = users.map(({ email }) => email)
    for (const email of [oldest, next]) await lock(app, email)
    expect((await known.tries(app.password, next)).status).toBe(303)
    expect((await known.tries(app.password, oldest)).status).toBe(429)
  })
})

describe('rejects the cookie of a known browser', () => {
  const worthless = async (
    app: TestServer,
    cookie: string,
    { email, password }: { email: string; password: string } = {
      email: app.user.email,
      password: app.password,
    },
  ) => {
    await lock(app, email)
    const tried = await (await browserWith(app, cookie)).tries(password, email)
    expect(tried.status).toBe(429)
  }

  test('if it belongs to another account [T589]', async () => {
    await using app = await start({ limits })
    const cookie = await knownCookie(app, await knownBrowser(app))
    const { email } = await app.newUser({ email: 'other@example.org' })
    await worthless(app, cookie, { email, password: app.password })
  })

  test('if it was altered [T590]', async () => {
    await using app = await start({ limits })
    const cookie = await knownCookie(app, await knownBrowser(app))
    const other = cookie.at(-10) === 'A' ? 'B' : 'A'
    await worthless(app, `${cookie.slice(0, -10)}${other}${cookie.slice(-9)}`)
  })

  test('if the password was changed after the cookie was issued [T591]', async () => {
    await using app = await start({ limits })
    const cookie = await knownCookie(app, await knownBrowser(app))
    const password = 'another correct horse'
    await app.server.users.setPassword(app.user.id, password)
    await worthless(app, cookie, { email: app.user.email, password })
  })

  test('if the user was deleted and another user has the same e-mail address', async () => {
    await using app = await start({ limits })
    const cookie = await knownCookie(app, await knownBrowser(app))
    await app.server.users.delete(app.user.id)
    await app.newUser({ email: 'filler@example.org' })
    await app.newUser({ email: app.user.email })
    await worthless(app, cookie)
  })

  test('if it was sealed with another secret key', async () => {
    await using app = await start({ limits })
    await using stranger = await start({ secretKeys: ['another secret key of more than 32 bytes'] })
    await worthless(app, await knownCookie(stranger, await knownBrowser(stranger)))
  })
})

test('recognizes a known browser despite a second cookie of the same name', async () => {
  await using app = await start({ limits })
  const cookie = await knownCookie(app, await knownBrowser(app))
  const other = newBrowser(app)
  const page = await other.agent.browse(`${app.issuer}/login?prompt=login`)
  const session = await other.agent.jar.getCookieString(app.issuer)
  const [, csrf_token = ''] = /name="csrf_token" value="([^"]+)"/.exec(await page.text()) ?? []
  await lock(app)
  const response = await fetch(`${app.issuer}/login`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ email: app.user.email, password: app.password, csrf_token }),
    headers: {
      ...from(elsewhere),
      cookie: `${cookieName}=planted; ${session}; ${cookieName}=${cookie}`,
    },
  })
  expect(response.status).toBe(303)
})

test('checkPassword counts the wrong passwords of a user separately from the wrong passwords of unknown browsers [T594]', async () => {
  await using app = await start({ limits })
  const user = await app.server.users.fromId(app.user.id)
  await lock(app)
  for (let right = 0; right < 6; right += 1)
    expect(await user?.checkPassword(app.password)).toBe(true)
  for (let wrong = 0; wrong < 3; wrong += 1) expect(await user?.checkPassword('wrong')).toBe(false)
  await expect(user?.checkPassword(app.password)).rejects.toMatchObject({ status: 429 })
  app.advance(600)
  expect(await user?.checkPassword(app.password)).toBe(true)
  expect((await newBrowser(app).tries(app.password)).status).toBe(303)
})

const lacksPostgres = await lacks('postgres')
const lacksRedis = await lacks('redis')

const stores = [
  { name: 'SQLite', isMissing: false, open: async () => ({ options: {}, end: async () => {} }) },
  {
    name: 'PostgreSQL',
    isMissing: lacksPostgres,
    open: async () => {
      const database = await makeDatabase()
      return { options: { store: postgres(database.url) }, end: database.drop }
    },
  },
  {
    name: 'Redis',
    isMissing: lacksRedis,
    open: async () => {
      const prefix = newPrefix()
      const transients = redis(sharedRedis, { keyPrefix: prefix })
      return { options: { transients }, end: () => removeKeys(prefix) }
    },
  },
]

describe.each(stores)('three nodes with $name', ({ isMissing, open }) => {
  test.skipIf(isMissing)('count the guesses at an account together', async () => {
    const { options, end } = await open()
    try {
      await using one = await start({ limits, ...options })
      await using two = await start({ limits, ...options, beside: one })
      await using three = await start({ limits, ...options, beside: one })
      const nodes = [one, two, three]
      const known = await knownBrowser(one)
      const statuses = await Promise.all(
        Array.from({ length: 12 }, async (_, index) => {
          const node = nodes[index % 3] ?? one
          return (await guesser(node, inNetwork(index))('a wrong guess')).status
        }),
      )
      expect(statuses.filter((status) => status === 403)).toHaveLength(3)
      expect(statuses.filter((status) => status === 429)).toHaveLength(9)
      for (const node of nodes)
        expect((await newBrowser(node).tries(one.password)).status).toBe(429)
      // A browser sends the cookies of localhost to every port, and so to every node.
      const cookie = await knownCookie(one, known)
      for (const node of nodes)
        expect((await (await browserWith(node, cookie)).tries(one.password)).status).toBe(303)
    } finally {
      await end()
    }
  })
})
