import { describe, expect, test } from 'vitest'
import { kinds } from '../../support/load.ts'
import { lacks } from '../../support/needs.ts'
import { startNode } from '../../support/nodes.ts'
import { useOwnServices } from '../../support/own-services.ts'
import { expectTolerated } from '../../support/sound.ts'
import { type Sample, startTraffic, succeeded } from '../../support/traffic.ts'

const isLacking = (await lacks('postgres programs')) || (await lacks('redis'))

const timeout = 120_000

/** How many times the test kills a node. */
const rounds = process.env.NODES === 'whole' ? 3 : 2

describe.skipIf(isLacking)('three nodes under load', () => {
  const services = useOwnServices()

  test('lose no token and recover if kill -9 ends a node [T565]', { timeout }, async () => {
    await using site = await services.newSite()
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
    await using site = await services.newSite()
    for (const how of ['fast', 'immediate'] as const) {
      const traffic = await startTraffic(site)
      await traffic.flow(1_000)
      await services.postgres.stop(how)
      await traffic.flow(2_000)
      await services.postgres.start()
      const recovered = performance.now()
      await traffic.recover()
      const aftermath = await traffic.stop()
      await expectTolerated(site, `PostgreSQL ${how}`, traffic.samples, aftermath, recovered)
    }
  })

  test('lose no token and recover after a restart and a pause of Redis', { timeout }, async () => {
    await using site = await services.newSite()
    const outages = {
      stopped: { begin: () => services.redis.stop(), end: () => services.redis.start() },
      silent: { begin: () => services.redis.pause(), end: () => services.redis.resume() },
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
})
