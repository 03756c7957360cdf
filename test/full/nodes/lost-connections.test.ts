import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { kinds, post } from '../../support/load.ts'
import { lacks } from '../../support/needs.ts'
import { useOwnServices } from '../../support/own-services.ts'
import { makeDatabase } from '../../support/postgres.ts'
import { newCable } from '../../support/redis.ts'
import { expectTolerated } from '../../support/sound.ts'
import { isPostponed, startTraffic, succeeded } from '../../support/traffic.ts'

const isLacking = (await lacks('postgres programs')) || (await lacks('redis'))

const timeout = 120_000

describe.skipIf(isLacking)('three nodes under load', () => {
  const services = useOwnServices()

  test.each(process.env.NODES === 'whole' ? [2_000, 8_000] : [5_000])(
    'lose no token and recover after all packets between a node and PostgreSQL were lost for %i ms',
    { timeout },
    async (milliseconds) => {
      await using cable = await newCable(services.postgres.port)
      const database = await makeDatabase(services.postgres.url)
      const through = Object.assign(new URL(database.url), { port: String(cable.port) }).href
      await using site = await services.newSite({
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

  test('fulfil requests at the other nodes while the transaction of a cut-off node still locks a consent', {
    timeout,
  }, async () => {
    await using cable = await newCable(services.postgres.port)
    const database = await makeDatabase(services.postgres.url)
    const through = Object.assign(new URL(database.url), { port: String(cable.port) }).href
    await using site = await services.newSite({
      database,
      // With a low limit, the node redeems codes in a transaction instead of one statement.
      envOf: (index) =>
        index === 0
          ? { DATABASE_URL: through, OAUTH2SERVER_AUTHORIZATIONS_PER_APPLICATION: '16' }
          : {},
    })
    const { client, agent } = site
    const code = () => client.code(site.node(1), agent)
    const [lost, ...others] = [await code(), await code(), await code()]
    const [first] = site.nodes
    // Pause the redemption at the first node after its transaction has locked the consent of the user.
    await first?.order({ at: 'after consents.find', does: 'pause', milliseconds: 4_000 })
    const elsewhere = { ...site, node: (turn: number) => site.node(1 + (turn % 2)) }
    const traffic = await startTraffic(elsewhere)
    const stuck = post(client.redemption(site.node(0), lost))
    // Until the first redemption has locked the consent, it must be the only one of its node.
    const isPaused = `select 1 from pg_stat_activity where datname = current_database()
      and state = 'idle in transaction' and state_change < clock_timestamp() - interval '500 ms'`
    await vi.waitFor(async () => expect(await database.query(isPaused)).toHaveLength(1))
    // These redemptions are for the user and client of the locked consent.
    const behind = others.map((other) => post(client.redemption(site.node(0), other)))
    // Fixed time: the redemptions reach the lock.
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
    const database = await makeDatabase(services.postgres.url)
    let cable = await newCable(services.postgres.port)
    const { port } = cable
    const through = Object.assign(new URL(database.url), { port: String(port) }).href
    await using site = await services.newSite({
      database,
      envOf: () => ({ DATABASE_URL: through }),
    })
    const traffic = await startTraffic(site)
    await traffic.flow(1_000)
    await cable[Symbol.asyncDispose]()
    await traffic.flow(3_000)
    cable = await newCable(services.postgres.port, port)
    const recovered = performance.now()
    await traffic.recover()
    const aftermath = await traffic.stop()
    await expectTolerated(site, 'connections closed', traffic.samples, aftermath, recovered)
    await cable[Symbol.asyncDispose]()
  })
})
