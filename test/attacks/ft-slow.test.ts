import { randomInt } from 'node:crypto'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { digestOf } from '../../src/crypto/digest.ts'
import { Device } from '../support/device.ts'
import { newKey, proofBy } from '../support/dpop.ts'
import { call, kinds, type Outcome, post } from '../support/load.ts'
import { lacks } from '../support/needs.ts'
import {
  type Cluster,
  createUserAndClient,
  type Form,
  type HttpResponse,
  type Node,
  openRecords,
  ping,
  prepare,
  query,
  send,
  startNode,
} from '../support/nodes.ts'
import { type OwnPostgres, startPostgres } from '../support/own-postgres.ts'
import { makeDatabase } from '../support/postgres.ts'
import { temporaryFolder } from '../support/processes.ts'
import { newCable, type OwnRedis, startRedis } from '../support/redis.ts'
import type { TestServer } from '../support/server.ts'
import { browser } from '../support/session.ts'
import { type Site, startSite } from '../support/site.ts'
import { figures, isPostponed, settle, startTraffic, succeeded } from '../support/traffic.ts'
import { UserAgent } from '../support/user-agent.ts'

const issuer = 'http://localhost:8080'
/** The timeout of a test in milliseconds. A test restarts processes dozens of times, possibly on a busy machine. */
const timeout = 300_000

type Rows = readonly Readonly<Record<string, unknown>>[]

/** Settings of the nodes: an outage lasts less than the leeway of refresh tokens and the lifetime of codes. */
const patient = {
  OAUTH2SERVER_REFRESH_TOKEN_LEEWAY: '600',
  OAUTH2SERVER_AUTHORIZATION_CODE_EXPIRES_IN: '600',
}

/** Retries after 503: the database may still be busy with the transactions of the killed node. */
const sendUntilServed = async (form: Form): Promise<HttpResponse> => {
  const response = await send(form)
  if (response.status !== 503) return response
  await delay(500)
  return sendUntilServed(form)
}

/** Returns the response, or undefined if it was lost. */
const received = (sent: Promise<HttpResponse>): Promise<HttpResponse | undefined> =>
  sent.catch(() => undefined)

/** The database of the nodes, and the options that start a node on it. */
interface Kept extends AsyncDisposable {
  readonly cluster: Cluster
  ask(sql: string): Promise<Rows>
  expectIntact(): Promise<void>
}

const inSqlite = async (): Promise<Kept> => {
  const folder = await temporaryFolder()
  const ask = async (sql: string): Promise<Rows> => query(folder.path, sql)
  return {
    cluster: { data: folder.path, issuer, env: patient },
    ask,
    async expectIntact() {
      expect(await ask('pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
      expect(await ask('pragma foreign_key_check')).toEqual([])
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

const inPostgres = async (): Promise<Kept> => {
  const [folder, database] = await Promise.all([temporaryFolder(), makeDatabase()])
  return {
    cluster: { data: folder.path, issuer, env: { ...patient, DATABASE_URL: database.url } },
    ask: (sql) => database.query(sql),
    expectIntact: async () => undefined,
    async [Symbol.asyncDispose]() {
      await database.drop()
      await folder[Symbol.asyncDispose]()
    },
  }
}

const databases = [
  { name: 'SQLite', keep: inSqlite, isLacking: false },
  { name: 'PostgreSQL', keep: inPostgres, isLacking: await lacks('postgres') },
]

describe.each(databases)(
  'FT-01 Killed process during the redemption of codes, on $name',
  ({ name, keep, isLacking }) => {
    const untouched = '0 0 0'
    const redeemed = '1 1 0'
    const revoked = '1 0 1'

    /** Registers a client, and returns a function that checks the state of a code after a crash. */
    const inPlace = async ({ cluster, ask, expectIntact }: Kept) => {
      const records = await openRecords(cluster)
      const { client } = await createUserAndClient(records, { allowedScopes: ['notes:read'] })
      await records.close()
      /** Returns the numbers of authorizations, tokens and revoked authorizations of a code. */
      const familyOf = async (code: string) => {
        const [row] = await ask(
          `select count(distinct a.id) as families, count(t.id) as tokens, count(a.revoked_at) as revoked
         from oauth2server_authorization a left join oauth2server_token t on t.authorization_id = a.id
         where a.code_digest = '${digestOf('authorization_code', code)}'`,
        )
        return [row?.families, row?.tokens, row?.revoked].map(Number).join(' ')
      }
      /** Checks the invariants I1 and I2 of a code after the restart of its node. */
      const endOf = async (node: Node, code: string, response: HttpResponse | undefined) => {
        await expectIntact()
        const family = await familyOf(code)
        // Either the code is consumed and its tokens exist, or the code is not consumed and no tokens exist.
        expect([untouched, redeemed]).toContain(family)
        if (response) {
          expect([response.status, family]).toEqual([200, redeemed])
          expect(await ping(node, response.body.access_token)).toBe(200)
          return 'answered'
        }
        const retry = await sendUntilServed(client.redemption(node, code))
        if (family === untouched) {
          expect([retry.status, await familyOf(code)]).toEqual([200, redeemed])
          expect(await ping(node, retry.body.access_token)).toBe(200)
          return 'untouched'
        }
        // The response was lost. The client's retry is a replay, which revokes the lost tokens.
        expect([retry.status, retry.body.error]).toEqual([400, 'invalid_grant'])
        expect(await familyOf(code)).toBe(revoked)
        return 'orphan'
      }
      return { client, agent: new UserAgent(), endOf }
    }

    test.skipIf(isLacking)(
      'I1, I2: redeems each code completely or not at all if the node is killed during the exchange',
      { timeout },
      async () => {
        const [rounds, atOnce] = [10, 30]
        await using kept = await keep()
        const { client, agent, endOf } = await inPlace(kept)
        const ends: Record<string, number> = {}
        let node = await startNode(kept.cluster)
        try {
          for (let round = 0; round < rounds; round += 1) {
            const codes: string[] = []
            for (let made = 0; made < atOnce; made += 1) codes.push(await client.code(node, agent))
            const begun = await Promise.all(
              codes.map((code) => prepare(client.redemption(node, code))),
            )
            // Kill the node after some responses, while the other requests are in progress.
            const enough = randomInt(1, atOnce)
            let answered = 0
            const victim = node
            const responses = begun.map(async ({ finish }) => {
              const response = await received(finish())
              answered += response ? 1 : 0
              if (answered === enough) victim.program.kill('SIGKILL')
              return response
            })
            await victim.program.exited
            const came = await Promise.all(responses)
            node = await startNode(kept.cluster)
            for (const [index, code] of codes.entries()) {
              const end = await endOf(node, code, came[index])
              ends[end] = (ends[end] ?? 0) + 1
            }
          }
        } finally {
          await node.program.crash()
        }
        console.log(`killed around ${rounds * atOnce} codes on ${name}:`, ends)
        const [all] = await kept.ask(
          'select count(*) as n, count(distinct code_digest) as codes from oauth2server_authorization',
        )
        expect([Number(all?.n), Number(all?.codes)]).toEqual([rounds * atOnce, rounds * atOnce])
      },
    )

    test.skipIf(isLacking)(
      'I2: redeems a code completely or not at all if the node is killed at any store operation',
      { timeout },
      async () => {
        await using kept = await keep()
        const { client, agent, endOf } = await inPlace(kept)
        const moments = [
          'before transaction',
          'before authorizations.insertOnce',
          'after authorizations.insertOnce',
          'before tokens.insert',
          'after tokens.insert',
          'after transaction',
        ]
        // With a low limit, the node redeems codes in a transaction instead of one operation.
        const env = { ...kept.cluster.env, OAUTH2SERVER_AUTHORIZATIONS_PER_APPLICATION: '16' }
        const cluster = { ...kept.cluster, env }
        const ends: string[] = []
        let node = await startNode(cluster)
        try {
          for (const at of moments) {
            const code = await client.code(node, agent)
            await node.order({ at, does: 'kill' })
            expect(await received(send(client.redemption(node, code)))).toBeUndefined()
            expect((await node.program.exited).signal).toBe('SIGKILL')
            node = await startNode(cluster)
            ends.push(await endOf(node, code, undefined))
            const fresh = await client.code(node, agent)
            expect((await sendUntilServed(client.redemption(node, fresh))).status).toBe(200)
          }
        } finally {
          await node.program.crash()
        }
        expect(ends).toEqual(
          moments.map((at) => (at === 'after transaction' ? 'orphan' : 'untouched')),
        )
      },
    )
  },
)

const withoutPostgres = await lacks('postgres programs')

describe.skipIf(withoutPostgres)('FT-03 Database restart and fail-over', () => {
  let postgres: OwnPostgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.[Symbol.asyncDispose]())

  /** Milliseconds after the end of an outage in which errors are still allowed. */
  const limit = 6_000

  /** Runs load before, during and after an event, and then checks the invariants. */
  const duringLoad = async (site: Site, happens: () => Promise<void>) => {
    const pids = site.nodes.map(({ program }) => program.pid)
    const traffic = await startTraffic(site)
    await traffic.flow(1_000)
    await happens()
    const recovered = performance.now()
    await traffic.flow(limit + 500)
    const aftermath = await traffic.stop()
    const happened = figures(traffic.samples, recovered)
    const settled = await settle(site, aftermath)
    console.log('FT-03:', happened, settled)
    // Every failed request received 503: no request was rejected, and none failed with 500 or a timeout.
    const wrong = traffic.samples.filter((sample) => !succeeded(sample) && !isPostponed(sample))
    expect(kinds(wrong)).toEqual({})
    expect(happened.recovery).toBeLessThanOrEqual(limit)
    expect(happened.slowest).toBeLessThan(8_000)
    // The nodes recovered without a restart.
    expect(site.nodes.map(({ program }) => [program.pid, program.exit])).toEqual(
      pids.map((pid) => [pid, undefined]),
    )
    expect(settled.tokens).toEqual({ 200: aftermath.tokens.length })
    expect([settled.families, settled.doubled]).toEqual([settled.redeemed, 0])
    for (const kind of Object.keys(settled.retried))
      expect(['unspent: 200 ok', 'spent: 400 invalid_grant']).toContain(kind)
    return happened
  }
  const newSite = async () =>
    startSite({ count: 2, env: patient, database: await makeDatabase(postgres.url) })

  const endAll =
    'select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'

  test('recovers from an immediate restart and from the termination of all connections', {
    timeout,
  }, async () => {
    await using site = await newSite()
    const happened = await duringLoad(site, async () => {
      await postgres.stop('immediate')
      await delay(1_000)
      await postgres.start()
      for (let times = 0; times < 5; times += 1) {
        await site.database.query(endAll)
        await delay(200)
      }
    })
    expect(happened.failed).toBeGreaterThan(0)
  })

  test('recovers from a database that is temporarily read-only, like a replica before its promotion', {
    timeout,
  }, async () => {
    await using site = await newSite()
    const [row] = await site.database.query('select current_database() as name')
    const setting = `alter database ${row?.name} set default_transaction_read_only`
    const happened = await duringLoad(site, async () => {
      await site.database.query(`${setting} = on`)
      await site.database.query(endAll)
      await delay(2_000)
      await site.database.query(`begin read write; ${setting} = off; commit`)
      await site.database.query(endAll)
    })
    expect(happened.failed).toBeGreaterThan(0)
  })

  test('returns 503 to requests that wait while a table is locked for 8 s', {
    timeout,
  }, async () => {
    await using site = await newSite()
    const happened = await duringLoad(site, async () => {
      await site.database.query(
        'begin; lock table oauth2server_client in access exclusive mode; select pg_sleep(8); commit',
      )
    })
    expect(happened.kinds).toHaveProperty('503 temporarily_unavailable')
  })

  test('does not repeat a commit if the response of the database was lost', {
    timeout,
  }, async () => {
    const database = await makeDatabase(postgres.url)
    await using deaf = await startDroppingProxy(postgres.port)
    const through = Object.assign(new URL(database.url), { port: String(deaf.port) }).href
    await using site = await startSite({
      count: 2,
      env: patient,
      database,
      envOf: (index) => (index === 0 ? { DATABASE_URL: through } : {}),
    })
    const { client, agent } = site
    const [first, second] = [site.node(0), site.node(1)]
    // Find out the last store operation before the commit of a redemption.
    const learnt = await client.code(second, agent)
    await first.order()
    await post(client.redemption(first, learnt))
    const done = await first.order()
    const last = done[done.lastIndexOf('after transaction') - 1] ?? ''
    const time = done.filter((operation) => operation === last).length
    expect(last).toMatch(/^after /)
    const code = await client.code(second, agent)
    await first.order({ at: last, does: 'pause', milliseconds: 1_000, time })
    const sent = post(client.redemption(first, code))
    await delay(500)
    // From now on, the database receives all statements, including the commit, but the node receives no responses.
    deaf.stopResponses()
    const outcome = await sent
    expect(isPostponed(outcome)).toBe(true)
    expect(outcome.ended - outcome.began).toBeLessThan(8_000)
    const familyOf = async () => {
      const rows = await database.query(
        `select a.revoked_at is not null as revoked, count(t.id)::int as tokens
         from oauth2server_authorization a left join oauth2server_token t on t.authorization_id = a.id
         where a.code_digest = $1 group by a.id`,
        [digestOf('authorization_code', code)],
      )
      return rows
    }
    // The redemption was committed at most once.
    expect([[], [{ revoked: false, tokens: 1 }]]).toContainEqual(await familyOf())
    const wasCommitted = (await familyOf()).length === 1
    const retry = await post(client.redemption(second, code))
    if (wasCommitted) {
      expect([retry.status, retry.error]).toEqual([400, 'invalid_grant'])
      expect(await familyOf()).toEqual([{ revoked: true, tokens: 0 }])
    } else {
      expect(retry.status).toBe(200)
      expect(await familyOf()).toEqual([{ revoked: false, tokens: 1 }])
    }
    expect(wasCommitted).toBe(true)
  })
})

/** Starts a proxy between a node and its database that can drop the responses of the database. */
const startDroppingProxy = async (to: number) => {
  const ends = new Set<Socket>()
  let isDeaf = false
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1')
    for (const end of [near, far]) {
      ends.add(end)
      end.on('error', () => undefined)
    }
    near.pipe(far)
    far.on('data', (bytes) => {
      if (!isDeaf) near.write(bytes)
    })
    near.once('close', () => far.destroy())
    far.once('close', () => near.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    stopResponses() {
      isDeaf = true
    },
    async [Symbol.asyncDispose]() {
      for (const end of ends) end.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const withoutServices = (await lacks('postgres')) || (await lacks('redis'))

describe.skipIf(withoutServices)('FT-05 Loss of Redis or of its data', () => {
  let redis: OwnRedis
  let site: Site
  beforeAll(async () => {
    redis = await startRedis()
    site = await startSite({
      count: 2,
      redisUrl: redis.url,
      env: { ...patient, OAUTH2SERVER_DEVICE_AUTHORIZATION: 'true' },
    })
  })
  afterAll(async () => {
    await site?.[Symbol.asyncDispose]()
    await redis?.[Symbol.asyncDispose]()
  })

  const bearer = (token: unknown) => ({ authorization: `Bearer ${token}` })
  const look = ({ url }: Node, token: unknown): Promise<Outcome> =>
    call({ url: `${url}/oauth/ping`, headers: bearer(token) })
  const took = ({ began, ended }: Outcome): number => ended - began
  /** The maximum response time in milliseconds: two seconds, and one second more for a slow machine. */
  const maxResponseTime = 3_000
  /** Waits until the nodes report that they are ready and connected to Redis. */
  const ready = async (of = site) => {
    for (const { url } of of.nodes) {
      const isWhole = async () =>
        expect(await (await fetch(`${url}/health/ready`)).json()).toEqual({ status: 'ready' })
      await vi.waitFor(isWhole, { timeout: 15_000, interval: 100 })
    }
  }

  interface Outage {
    readonly begin: () => Promise<unknown>
    readonly end: () => Promise<unknown>
  }
  const outages: Record<
    string,
    () => Promise<Outage & { readonly of: Site; close(): Promise<void> }>
  > = {
    stopped: async () => ({
      of: site,
      begin: () => redis.stop(),
      end: () => redis.start(),
      close: async () => undefined,
    }),
    paused: async () => ({
      of: site,
      begin: async () => redis.pause(),
      end: async () => redis.resume(),
      close: async () => undefined,
    }),
    disconnected: async () => {
      const cable = await newCable(redis.port)
      const redisUrl = `redis://127.0.0.1:${cable.port}`
      const of = await startSite({ count: 2, redisUrl, env: patient })
      return {
        of,
        begin: async () => cable.cut(),
        end: async () => cable.restore(),
        async close() {
          await of[Symbol.asyncDispose]()
          await cable[Symbol.asyncDispose]()
        },
      }
    },
  }

  test.each(Object.keys(outages))(
    'returns 503 quickly while Redis is %s, consumes nothing, and recovers',
    { timeout },
    async (name) => {
      const make = outages[name]
      if (!make) throw new Error(name)
      const { of, begin, end, close } = await make()
      try {
        const { client, agent } = of
        const [a, b] = [of.node(0), of.node(1)]
        const tokens = await client.tokens(a, agent)
        const codes = [await client.code(a, agent), await client.code(b, agent)]
        const headers = {
          'user-agent': browser,
          cookie: await agent.jar.getCookieString('http://localhost'),
        }
        await begin()
        const [first = '', second = ''] = codes
        const responses = [
          await post(client.redemption(a, first)),
          await post(client.redemption(b, second)),
          await call({ url: client.authorizeUrl(a), headers }),
          await post(client.redemption(a, second)),
        ]
        for (const response of responses) {
          expect(isPostponed(response), `${response.status} ${response.error}`).toBe(true)
          expect(took(response)).toBeLessThan(maxResponseTime)
        }
        // Requests that need only the SQL database still succeed on every node.
        for (const node of [a, b]) {
          expect((await fetch(`${node.url}/health/ready`)).status).toBe(200)
          const seen = await look(node, tokens.access_token)
          expect([seen.status, took(seen) < maxResponseTime]).toEqual([200, true])
          expect((await post(client.form(node, { grant_type: 'client_credentials' }))).status).toBe(
            200,
          )
        }
        const refreshed = await post(client.refreshForm(b, tokens.refresh_token))
        expect(refreshed.status).toBe(200)
        await end()
        await ready(of)
        if (name === 'stopped') {
          // This Redis stores nothing on disk, so the codes are lost.
          for (const code of codes)
            expect((await post(client.redemption(b, code))).error).toBe('invalid_grant')
        } else
          for (const code of codes)
            expect((await post(client.redemption(b, code))).status).toBe(200)
        expect((await post(client.redemption(a, await client.code(b, agent)))).status).toBe(200)
        expect((await look(a, refreshed.body.access_token)).status).toBe(200)
      } finally {
        await close()
      }
    },
  )

  test('returns 503 for new values while the memory of Redis is full', { timeout }, async () => {
    await ready()
    const { client } = site
    const agent = new UserAgent({ 'user-agent': browser })
    const [a, b] = [site.node(0), site.node(1)]
    const { access_token } = await client.tokens(a, agent)
    const code = await client.code(a, agent)
    const cookie = await agent.jar.getCookieString('http://localhost')
    const headers = { 'user-agent': browser, cookie }
    await redis.command('config', 'set', 'maxmemory', '1')
    try {
      for (const node of [a, b]) {
        const asked = await call({ url: client.authorizeUrl(node), headers })
        expect([isPostponed(asked), took(asked) < maxResponseTime]).toEqual([true, true])
        expect((await look(node, access_token)).status).toBe(200)
      }
      const redeemed = await post(client.redemption(b, code))
      expect(redeemed.status === 200 || isPostponed(redeemed)).toBe(true)
    } finally {
      await redis.command('config', 'set', 'maxmemory', '0')
    }
    expect((await post(client.redemption(a, await client.code(b, agent)))).status).toBe(200)
  })

  test('accepts no consumed, revoked or rotated value after FLUSHALL', {
    timeout,
  }, async () => {
    await ready()
    const { client, records, user } = site
    const agent = new UserAgent({ 'user-agent': browser })
    const [a, b] = [site.node(0), site.node(1)]
    const used = await client.code(a, agent)
    const fromUsed = await send(client.redemption(a, used))
    expect(fromUsed.status).toBe(200)
    const unused = await client.code(a, agent)
    const revoked = await client.tokens(a, agent)
    await call({
      url: `${a.url}/oauth/revoke`,
      headers: { authorization: client.form(a, {}).authorization },
      fields: { token: String(revoked.access_token) },
    })
    const family = await client.tokens(a, agent)
    const next = await send(client.refreshForm(a, family.refresh_token))
    expect((await send(client.refreshForm(a, next.body.refresh_token))).status).toBe(200)
    const pushed = await call({
      url: `${a.url}/oauth/par`,
      headers: { authorization: client.form(a, {}).authorization },
      fields: Object.fromEntries(new URL(client.authorizeUrl(a)).searchParams),
    })
    expect(pushed.status).toBe(201)
    const { clientId: client_id } = client
    const reference = new URLSearchParams({
      client_id,
      request_uri: String(pushed.body.request_uri),
    })
    const opened = await agent.fetch(`${a.url}/oauth/authorize?${reference}`)
    expect(opened.headers.get('location')).toContain('code=')
    const registered = await records.clients.create({
      name: 'Device',
      userId: user.id,
      redirectUris: [],
      isConfidential: false,
    })
    const asDevice = { clientId: registered.client.clientId, clientSecret: '' }
    const device = new Device({ issuer: a.url } as TestServer, asDevice, false)
    const codes = await device.codes()
    expect((await device.poll(codes)).body.error).toBe('authorization_pending')

    await redis.command('flushall')

    for (const node of [b, a]) {
      const again = await post(client.redemption(node, used))
      expect([again.status, again.error]).toEqual([400, 'invalid_grant'])
      // The replay of the code is detected with the SQL database, and revokes the tokens.
      expect((await look(node, fromUsed.body.access_token)).status).toBe(401)
      expect((await post(client.redemption(node, unused))).error).toBe('invalid_grant')
      expect((await look(node, revoked.access_token)).status).toBe(401)
      expect((await post(client.refreshForm(node, revoked.refresh_token))).error).toBe(
        'invalid_grant',
      )
      expect((await post(client.refreshForm(node, family.refresh_token))).error).toBe(
        'invalid_grant',
      )
      const late = await agent.fetch(`${node.url}/oauth/authorize?${reference}`)
      expect(late.headers.get('location')).toMatch(/^\/oauth\/errors\?/)
      // The counters of wrong user codes are lost, but so are all user codes.
      expect((await device.poll(codes, {}, { issuer: node.url })).body.error).toBe('invalid_grant')
    }
    // Sessions and consents are stored in the SQL database.
    const asked = await agent.fetch(client.authorizeUrl(b))
    expect(asked.headers.get('location')).toContain('code=')
  })

  // Used proofs are stored only in Redis. After their loss, only the age of a proof prevents its reuse.
  test('rejects a code with a reused DPoP proof, and an old proof, after FLUSHALL', {
    timeout,
  }, async () => {
    const { client, cluster } = site
    const agent = new UserAgent({ 'user-agent': browser })
    const [a, b] = [site.node(0), site.node(1)]
    const key = await newKey()
    const app = { issuer: cluster.issuer, now: () => Date.now() }
    const code = await client.code(a, agent)
    const dpop = await proofBy(key, { app })
    const redeem = ({ url }: Node, proof: string) =>
      call({
        url: `${url}/oauth/token`,
        headers: { authorization: client.form(a, {}).authorization, dpop: proof },
        fields: client.redemption(a, code).fields as Record<string, string>,
      })
    expect((await redeem(a, dpop)).status).toBe(200)
    const old = await proofBy(
      key,
      { app },
      { claims: { iat: Math.floor(Date.now() / 1000) - 301 } },
    )
    await redis.command('flushall')
    expect((await redeem(b, dpop)).error).toBe('invalid_grant')
    const machine = { grant_type: 'client_credentials' }
    const { authorization } = client.form(b, {})
    const late = await call({
      url: `${b.url}/oauth/token`,
      headers: { authorization, dpop: old },
      fields: machine,
    })
    expect([late.status, late.error]).toEqual([400, 'invalid_dpop_proof'])
  })
})

describe('FT-09 Shutdown', () => {
  const furnished = async () => {
    const folder = await temporaryFolder()
    const cluster: Cluster = { data: folder.path, issuer }
    const records = await openRecords(cluster)
    const { client } = await createUserAndClient(records, { defaultScopes: ['notes:read'] })
    await records.close()
    return { cluster, client, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() }
  }

  test('completes requests in progress after SIGTERM, exits with 0, and loses no token', {
    timeout,
  }, async () => {
    await using it = await furnished()
    const { client, cluster } = it
    await using node = await startNode(cluster)
    const tokens: string[] = []
    const outcomes: Outcome[] = []
    let isOver = false
    const worker = async () => {
      while (!isOver) {
        const form = client.form(node, { grant_type: 'client_credentials' })
        const outcome = await post(form)
        outcomes.push(outcome)
        if (outcome.status === 200) tokens.push(String(outcome.body.access_token))
        if (outcome.status === 'cut') await delay(5)
      }
    }
    const workers = Array.from({ length: 12 }, worker)
    await delay(1_000)
    // Pause this request, so that it is in progress when the signal arrives.
    const code = await client.code(node, new UserAgent())
    await node.order({
      at: 'before authorizations.insertWithToken',
      does: 'pause',
      milliseconds: 1_500,
    })
    const paused = post(client.redemption(node, code))
    await delay(100)
    const signalled = performance.now()
    node.program.kill('SIGTERM')
    expect(await node.program.exited).toEqual({ code: 0, signal: null })
    isOver = true
    await Promise.all(workers)
    expect(outcomes.filter(({ status }) => status === 200).length).toBeGreaterThan(10)
    for (const { status, ended } of outcomes.filter((one) => one.status !== 200)) {
      expect(['cut', 503]).toContain(status)
      // A request may fail only after the signal.
      expect(ended).toBeGreaterThan(signalled - 50)
    }
    const last = await paused
    expect(last.status).toBe(200)
    tokens.push(String(last.body.access_token))
    expect(node.program.stderr).not.toMatch(/unhandled|uncaught|"request\.failed"/i)

    await using again = await startNode(cluster)
    const statuses = new Set<number>()
    for (const token of tokens) statuses.add(await ping(again, token))
    expect(statuses).toEqual(new Set([200]))
    const [row] = query(cluster.data, 'select count(*) as n from oauth2server_token')
    expect(row).toEqual({ n: tokens.length })
  })

  test('responds to other clients and shuts down in time despite clients that never read responses', {
    timeout,
  }, async () => {
    await using it = await furnished()
    await using node = await startNode(it.cluster)
    const deaf = Array.from({ length: 10 }, () => {
      const socket = connect(node.port, '127.0.0.1')
      socket.on('error', () => undefined).pause()
      const one = 'GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'
      socket.write(one.repeat(20))
      return socket
    })
    await delay(1_000)
    const began = performance.now()
    const form = it.client.form(node, { grant_type: 'client_credentials' })
    expect((await post(form)).status).toBe(200)
    expect(performance.now() - began).toBeLessThan(5_000)
    const signalled = performance.now()
    expect(await node.program.stop()).toEqual({ code: 0, signal: null })
    expect(performance.now() - signalled).toBeLessThan(20_000)
    for (const socket of deaf) socket.destroy()
    expect(node.program.stderr).not.toMatch(/unhandled|uncaught|"request\.failed"/i)
  })
})
