import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Cluster, type StoreName, startCluster } from '../../histories/cluster.ts'
import { type Checker, describe as described, startChecker } from '../../histories/history.ts'
import { type Report, runHistories } from '../../histories/run.ts'
import { planted, seededFaults } from '../../histories/seeded-faults.ts'
import { lacks } from '../../support/needs.ts'

// A short run of `npm run histories` for each store, with a fixed seed.

const isLackingGo = await lacks('go')
const isLackingPostgres = await lacks('postgres programs')
const timeout = 240_000

describe.skipIf(isLackingGo)('histories', () => {
  let checker: Checker

  beforeAll(async () => {
    checker = await startChecker()
  }, timeout)
  afterAll(() => checker?.[Symbol.asyncDispose]())

  const startedOn = (store: StoreName) => {
    const it = {} as { cluster: Cluster }
    beforeAll(async () => {
      it.cluster = await startCluster(store)
    }, timeout)
    afterAll(() => it.cluster?.[Symbol.asyncDispose]())
    return it
  }

  /** Runs at least 6 cells, until every trouble has happened. */
  const expectAllowed = async (cluster: Cluster, seed: number) => {
    const isOver = ({ cells, troubles: { rounds = 0 } }: Report) => cells >= 6 && rounds > 0
    const report = await runHistories({
      cluster,
      checker,
      seed,
      hasTroubles: true,
      length: 15,
      isOver,
    })
    console.log(`histories on ${cluster.store}:`, report.operations, 'operations,', report.troubles)
    expect(report.violations.map(described)).toEqual([])
    expect(report.undecided).toBe(0)
    expect(report.unexpected).toEqual([])
    // The run reached each operation with success. Otherwise the nodes may refuse everything.
    const succeeded = ['redeem', 'refresh', 'revoke', 'check', 'introspect', 'withdraw', 'reset']
    for (const name of succeeded) expect(report.answers).toHaveProperty(`${name}: ok`)
  }

  describe.skipIf(isLackingPostgres)('of three nodes on PostgreSQL', () => {
    const it = startedOn('postgres')

    test(
      'are linearizable while nodes are killed and paused, connections are cut, and PostgreSQL restarts [T4450]',
      {
        timeout,
      },
      () => expectAllowed(it.cluster, 1),
    )
  })

  describe('of two processes on one SQLite file', () => {
    const it = startedOn('sqlite')

    test('are linearizable while processes are killed and paused [T4451]', { timeout }, () =>
      expectAllowed(it.cluster, 1),
    )

    test.each(seededFaults)('are not linearizable if $name [T4452]', { timeout }, async (fault) => {
      await using _ = await planted(fault, it.cluster)
      const { violations } = await runHistories({
        cluster: it.cluster,
        checker,
        seed: 1,
        hasTroubles: false,
        length: 8,
        rests: 0,
        isOver: ({ violations: found, cells }) => found.length > 0 || cells >= 100,
      })
      expect(violations.length).toBeGreaterThan(0)
    })
  })
})
