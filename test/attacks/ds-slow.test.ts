import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { each } from '../support/load.ts'
import { startNotes, temporaryFolder } from '../support/processes.ts'
import { UserAgent } from '../support/user-agent.ts'
import { startAttackServer } from './support/attack-server.ts'

const timeout = 240_000

describe('DS-01 Oversized and slow requests', () => {
  // `listen` of svc-oauth2server/environment limits the time of a request. Node.js checks this limit every 30 s.
  test('disconnects a sender of one byte a second without delaying others', {
    timeout,
  }, async () => {
    await using folder = await temporaryFolder()
    await using notes = await startNotes({ data: folder.path, limit: timeout })
    const began = performance.now()
    const slow = Array.from({ length: 40 }, (_, index) => {
      const socket = connect(notes.port, '127.0.0.1')
      let heard = ''
      socket.on('error', () => undefined).setEncoding('latin1')
      socket.on('data', (text: string) => {
        heard += text
      })
      // Half of the requests have incomplete headers, and the other half an incomplete body.
      socket.write('POST /oauth/token HTTP/1.1\r\nHost: localhost\r\n')
      if (index % 2 === 0)
        socket.write(
          'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 5000\r\n\r\n',
        )
      const drip = setInterval(
        () => socket.write(index % 2 === 0 ? 'a' : `X-${Date.now()}: a\r\n`),
        1_000,
      )
      return new Promise<string>((resolve) =>
        socket.once('close', () => {
          clearInterval(drip)
          resolve(heard)
        }),
      )
    })
    const others = async () => {
      const asked = performance.now()
      expect((await fetch(`${notes.url}/health/ready`)).status).toBe(200)
      return performance.now() - asked
    }
    for (let times = 0; times < 5; times += 1) {
      expect(await others()).toBeLessThan(2_000)
      await delay(500)
    }
    const heard = await Promise.all(slow)
    expect(performance.now() - began).toBeLessThan(100_000)
    for (const response of heard) expect(response).toMatch(/^HTTP\/1\.1 408 /)
    expect((await fetch(`${notes.url}/health/ready`)).status).toBe(200)
  })
})

describe('DS-03 State of unauthenticated requests', () => {
  test('neither stores rows nor grows the heap for thousands of anonymous requests', {
    timeout,
  }, async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    await using it = await startAttackServer()
    const { issuer } = it
    const work = async (index: number) => {
      const name = `${index}-${Math.random()}`
      const requests = [
        () =>
          fetch(it.authorizeUrl({ state: name }), {
            redirect: 'manual',
            headers: { cookie: `a=${name}` },
          }),
        () => fetch(it.authorizeUrl({ client_id: name }), { redirect: 'manual' }),
        () => fetch(`${issuer}/login?next=/${name}`),
        () => fetch(`${issuer}/oauth/ping`, { headers: { authorization: `Bearer ${name}` } }),
        () =>
          it.request('/oauth/token', {
            method: 'POST',
            body: new URLSearchParams({
              grant_type: 'authorization_code',
              code: name,
              client_id: name,
            }),
          }),
        () =>
          fetch(`${issuer}/`, {
            headers: { cookie: `oauth2server_session=${name}`, 'accept-language': name },
          }),
        () => fetch(`${issuer}/oauth/${name}`),
        () => fetch(`${issuer}/.well-known/oauth-authorization-server/${name}`),
      ]
      const response = await requests[index % requests.length]?.()
      if (response instanceof Response) await response.text()
    }
    const many = async (count: number) =>
      each(Array.from({ length: count }), 20, async (_, index) => work(index))
    const heap = () => {
      collect()
      return process.memoryUsage().heapUsed
    }
    await many(2_000)
    const rows = await it.state()
    const transients = () => it.server.query('select count(*) as n from oauth2server_transient')
    const [waiting] = await transients()
    const before = heap()
    await many(6_000)
    const growth = heap() - before
    expect(await it.state()).toEqual(rows)
    expect(await transients()).toEqual([waiting])
    // The log of the test is in memory and uses up to a kilobyte per request.
    expect(growth).toBeLessThan(6_000_000)
  })
})

describe('DS-05 Online guessing', () => {
  test('rejects further passwords of an attacker without locking out the user', {
    timeout,
  }, async () => {
    await using it = await startAttackServer({ trustedProxies: ['127.0.0.1'] })
    const { email, password } = it.users.b
    const loginAt = async (address: string) => {
      const agent = new UserAgent({ 'x-forwarded-for': address })
      const page = await (await agent.fetch(`${it.issuer}/login?prompt=login`)).text()
      const [, csrf_token = ''] = /name="csrf_token" value="([^"]+)"/.exec(page) ?? []
      return (given: string) => {
        const body = new URLSearchParams({ email, password: given, csrf_token })
        return agent.fetch(`${it.issuer}/login`, { method: 'POST', body })
      }
    }
    const guess = await loginAt('192.0.2.1')
    const responses = await Promise.all(
      Array.from({ length: 260 }, (_, index) => guess(`guess ${index}`)),
    )
    const statuses = responses.map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([403, 429]))
    for (const response of responses.filter(({ status }) => status === 429))
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await guess(password)).status).toBe(429)
    const owner = await loginAt('198.51.100.2')
    expect((await owner(password)).status).toBe(303)
  })

  test('rejects concurrent logins that exceed the hashing capacity', {
    timeout,
  }, async () => {
    await using it = await startAttackServer({ trustedProxies: ['127.0.0.1'] })
    const { password } = it.users.b
    const guesser = async (index: number) => {
      const agent = new UserAgent({ 'x-forwarded-for': `198.51.100.${index}` })
      const page = await (await agent.fetch(`${it.issuer}/login`)).text()
      const [, csrf_token = ''] = /name="csrf_token" value="([^"]+)"/.exec(page) ?? []
      const body = new URLSearchParams({ email: `m${index}@example.org`, password, csrf_token })
      return () => agent.fetch(`${it.issuer}/login`, { method: 'POST', body })
    }
    const guessers = await Promise.all(Array.from({ length: 250 }, (_, index) => guesser(index)))
    const responses = await Promise.all(guessers.map((guess) => guess()))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([403, 503]))
    for (const response of responses.filter(({ status }) => status === 503))
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    await it.newBrowser('b')
  })
})
