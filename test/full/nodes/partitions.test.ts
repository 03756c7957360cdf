import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { call, kinds } from '../../support/load.ts'
import { lacks } from '../../support/needs.ts'
import { forward, makeNetworks, type Networks } from '../../support/networks.ts'
import { type OwnPostgres, startPostgres } from '../../support/own-postgres.ts'
import { makeDatabase } from '../../support/postgres.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/processes.ts'
import { type OwnRedis, startRedis } from '../../support/redis.ts'
import { startSite } from '../../support/site.ts'
import { expectTolerated, longLeeway } from '../../support/sound.ts'
import { startTraffic, succeeded } from '../../support/traffic.ts'

const isLacking =
  (await lacks('postgres programs')) || (await lacks('redis')) || (await lacks('own networks'))

const timeout = 120_000

/** Milliseconds of packet loss: more than the 3,500 after which a node closes a silent connection. */
const loss = process.env.NODES === 'whole' ? 8_000 : 5_000

const hostOf = (url: string, hostname: string): string =>
  Object.assign(new URL(url), { hostname }).href

describe.skipIf(isLacking)('three nodes with a network namespace each', () => {
  let networks: Networks
  let folder: TemporaryFolder
  let postgres: OwnPostgres
  let redis: OwnRedis
  beforeAll(async () => {
    networks = await makeNetworks(3)
    folder = await temporaryFolder()
    await chmod(folder.path, 0o755)
    const access = join(folder.path, 'pg_hba.conf')
    const allowed = ['127.0.0.1/32', networks.subnet]
    await writeFile(access, allowed.map((from) => `host all all ${from} trust\n`).join(''))
    postgres = await startPostgres([
      `listen_addresses=127.0.0.1,${networks.postgres}`,
      `hba_file=${access}`,
    ])
    redis = await startRedis(['--bind', '127.0.0.1', networks.redis, '--protected-mode', 'no'])
  })
  afterEach(() => networks.heal())
  afterAll(async () => {
    await redis?.[Symbol.asyncDispose]()
    await postgres?.[Symbol.asyncDispose]()
    await folder?.[Symbol.asyncDispose]()
    await networks?.[Symbol.asyncDispose]()
  })

  const partitions = [
    {
      what: 'all packets between a node and PostgreSQL',
      service: 'postgres',
      lost: ['dropFrom', 'dropTo'],
      readiness: 503,
    },
    {
      what: 'all packets from PostgreSQL to a node',
      service: 'postgres',
      lost: ['dropTo'],
      readiness: 503,
    },
    {
      what: 'all packets between a node and Redis',
      service: 'redis',
      lost: ['dropFrom', 'dropTo'],
      readiness: 200,
    },
  ] as const

  test.each(partitions)(
    'losing $what makes /health/ready return $readiness, and affects only this node until it recovers [T567]',
    { timeout },
    async ({ what, service, lost, readiness }) => {
      await using site = await startSite({
        database: await makeDatabase(hostOf(postgres.url, networks.postgres)),
        redisUrl: hostOf(redis.url, networks.redis),
        env: longLeeway,
        envOf: (index) => ({ HOST: networks.address(index) }),
        namespaceOf: networks.namespace,
      })
      await using ports = new AsyncDisposableStack()
      for (const [index, { port }] of site.nodes.entries())
        ports.use(await forward(port, networks.address(index)))
      const { port: cutOff, url } = site.node(0)
      const isReady = () => call({ url: `${url}/health/ready` })
      const traffic = await startTraffic(site)
      await traffic.flow(1_000)
      for (const direction of lost) await networks[direction](0, networks[service])
      await traffic.flow(loss)
      const during = await isReady()
      await networks.heal()
      const recovered = performance.now()
      await traffic.recover()
      const aftermath = await traffic.stop()
      await expectTolerated(site, `partition of ${what}`, traffic.samples, aftermath, recovered)
      expect(during.status).toBe(readiness)
      expect((await isReady()).status).toBe(200)
      const failed = traffic.samples.filter((sample) => !succeeded(sample))
      // The packet loss caused failures, but only at this node.
      expect(failed.length).toBeGreaterThan(0)
      expect(kinds(failed.filter(({ port }) => port !== cutOff))).toEqual({})
    },
  )
})
