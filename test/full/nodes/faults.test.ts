import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { kinds, post } from '../../support/load.ts'
import { lacks } from '../../support/needs.ts'
import { startNode } from '../../support/nodes.ts'
import { type OwnPostgres, startPostgres } from '../../support/own-postgres.ts'
import { makeDatabase } from '../../support/postgres.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/processes.ts'
import { newCable, type OwnRedis, startRedis } from '../../support/redis.ts'
import { type Site, type SiteOptions, startSite } from '../../support/site.ts'
import { expectTolerated, longLeeway } from '../../support/sound.ts'
import { isPostponed, type Sample, startTraffic, succeeded } from '../../support/traffic.ts'

const isLacking = (await lacks('postgres programs')) || (await lacks('redis'))

const timeout = 120_000

/** How many times the test kills a node. */
const rounds = process.env.NODES === 'whole' ? 3 : 2

describe.skipIf(isLacking)('three nodes under load', () => {
  let postgres: OwnPostgres
  let redis: OwnRedis
  let folder: TemporaryFolder
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.[Symbol.asyncDispose]())
  beforeEach(async () => {
    folder = await temporaryFolder()
    // Configure Redis to store its data on disk, because no node can detect values that a restart loses.
    redis = await startRedis(['--dir', folder.path, '--appendonly', 'yes'])
  })
  afterEach(async () => {
    await redis?.stop()
    await folder?.[Symbol.asyncDispose]()
  })

  const newSite = async (options: SiteOptions = {}): Promise<Site> =>
    startSite({
      database: await makeDatabase(postgres.url),
      redisUrl: redis.url,
      env: longLeeway,
      ...options,
    })

  test('lose no token and recover if kill -9 ends a node [T565]', { timeout }, async () => {
    await using site = await newSite()
    const traffic = await startTraffic(site)
    await traffic.flow(1_000)
    const killed = new Set<number>()
    let killedLast = 0
    for (let round = 0; round < rounds; round += 1) {
      const [victim] = site.nodes.splice(0, 1)
      victim?.program.kill('SIGKILL')
      killedLast = performance.now()
      killed.add(victim?.port ?? 0)
      await traffic.flow(1_000)
      site.nodes.push(await startNode(site.cluster))
    }
    await traffic.recover()
    const aftermath = await traffic.stop()
    // Only requests at the killed nodes may be aborted.
    const isCut = ({ status, port }: Sample) => status === 'cut' && killed.has(port)
    await expectTolerated(site, 'nodes killed', traffic.samples, aftermath, killedLast, isCut)
    expect(traffic.samples.every((sample) => succeeded(sample) || isCut(sample))).toBe(true)
  })

  test('lose no token and recover after a fast and an immediate restart of PostgreSQL [T566]', {
    timeout,
  }, async () => {
    await using site = await newSite()
    for (const how of ['fast', 'immediate'] as const) {
      const traffic = await startTraffic(site)
      await traffic.flow(1_000)
      await postgres.stop(how)
      await traffic.flow(2_000)
      await postgres.start()
      const recovered = performance.now()
      await traffic.recover()
      const aftermath = await traffic.stop()
      await expectTolerated(site, `PostgreSQL ${how}`, traffic.samples, aftermath, recovered)
    }
  })

  test('lose no token and recover after a restart and a pause of Redis', { timeout }, async () => {
    await using site = await newSite()
    const outages = {
      stopped: { begin: () => redis.stop(), end: () => redis.start() },
      silent: { begin: () => redis.pause(), end: () => redis.resume() },
    }
    for (const [how, { begin, end }] of Object.entries(outages)) {
      const traffic = await startTraffic(site)
      await traffic.flow(1_000)
      await begin()
      await traffic.flow(2_500)
      await end()
      const recovered = performance.now()
      await traffic.recover()
      const aftermath = await traffic.stop()
      await expectTolerated(site, `Redis ${how}`, traffic.samples, aftermath, recovered)
      // Requests that need no value in Redis succeed.
      const others = traffic.samples.filter(({ kind }) => !['authorize', 'code'].includes(kind))
      expect(kinds(others.filter((sample) => !succeeded(sample)))).toEqual({})
    }
  })

  test.each(process.env.NODES === 'whole' ? [2_000, 8_000] : [5_000])(
    'lose no token and recover after all packets between a node and PostgreSQL were lost for %i ms',
    { timeout },
    async (milliseconds) => {
      await using cable = await newCable(postgres.port)
      const database = await makeDatabase(postgres.url)
      const through = Object.assign(new URL(database.url), { port: String(cable.port) }).href
      await using site = await newSite({
        database,
        envOf: (index) => (index === 0 ? { DATABASE_URL: through } : {}),
      })
      const cutOff = site.node(0).port
      const traffic = await startTraffic(site)
      await traffic.flow(1_000)
      cable.cut()
      await traffic.flow(milliseconds)
      cable.restore()
      const recovered = performance.now()
      await traffic.recover()
      const aftermath = await traffic.stop()
      const what = `bytes lost for ${milliseconds} ms`
      await expectTolerated(site, what, traffic.samples, aftermath, recovered)
      const elsewhere = traffic.samples.filter(({ port }) => port !== cutOff)
      expect(kinds(elsewhere.filter((sample) => !succeeded(sample)))).toEqual({})
    },
  )

  test('fulfil requests at other nodes while a node that lost its connection inside a transaction locks a consent', {
    timeout,
  }, async () => {
    await using cable = await newCable(postgres.port)
    const database = await makeDatabase(postgres.url)
    const through = Object.assign(new URL(database.url), { port: String(cable.port) }).href
    await using site = await newSite({
      database,
      envOf: (index) => (index === 0 ? { DATABASE_URL: through } : {}),
    })
    const { client, agent } = site
    const code = () => client.code(site.node(1), agent)
    const [lost, ...others] = [await code(), await code(), await code()]
    const [first] = site.nodes
    // At this point, the transaction has locked the consent of the user.
    await first?.order({ at: 'after consents.find', does: 'pause', milliseconds: 2_000, time: 2 })
    const elsewhere = { ...site, node: (turn: number) => site.node(1 + (turn % 2)) }
    const traffic = await startTraffic(elsewhere)
    const stuck = post(client.redemption(site.node(0), lost))
    await delay(100)
    // These redemptions are for the user and client of the locked consent.
    const behind = others.map((other) => post(client.redemption(site.node(0), other)))
    await delay(400)
    cable.cut()
    const began = performance.now()
    // Granting the consent waits for the lock until PostgreSQL ends the transaction of the lost connection.
    await site.records.consents.grant(site.user.id, client.clientId, ['notes:read'])
    await traffic.flow(3_000)
    expect(isPostponed(await stuck)).toBe(true)
    await Promise.all(behind)
    const aftermath = await traffic.stop()
    await expectTolerated(elsewhere, 'cut off in a transaction', traffic.samples, aftermath, began)
    expect(traffic.samples.filter((sample) => !succeeded(sample))).toEqual([])
  })

  test('lose no token and recover after every connection to PostgreSQL was closed and new connections were rejected', {
    timeout,
  }, async () => {
    const database = await makeDatabase(postgres.url)
    let cable = await newCable(postgres.port)
    const { port } = cable
    const through = Object.assign(new URL(database.url), { port: String(port) }).href
    await using site = await newSite({ database, envOf: () => ({ DATABASE_URL: through }) })
    const traffic = await startTraffic(site)
    await traffic.flow(1_000)
    await cable[Symbol.asyncDispose]()
    await traffic.flow(3_000)
    cable = await newCable(postgres.port, port)
    const recovered = performance.now()
    await traffic.recover()
    const aftermath = await traffic.stop()
    await expectTolerated(site, 'connections closed', traffic.samples, aftermath, recovered)
    await cable[Symbol.asyncDispose]()
  })
})
