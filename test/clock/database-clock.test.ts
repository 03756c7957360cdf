import { type LogEntry, StoreUnavailable } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { DatabaseClock } from '../../src/server/clock/database-clock.ts'
import { ClockInDoubt } from '../../src/server/clock/server-clock.ts'

const second = 1_000
const start = Date.UTC(2026, 0, 1)

/** Creates a clock for a database and a machine whose times the test sets. */
const setUp = async (machineAhead = 0) => {
  const log: LogEntry[] = []
  const at = { elapsed: 0, machine: start + machineAhead, database: start }
  let roundTrip = 4
  let isAway = false
  let asked = 0
  const pass = (milliseconds: number): void => {
    at.elapsed += milliseconds
    at.machine += milliseconds
    at.database += milliseconds
  }
  const clock = await DatabaseClock.start({
    machine: () => at.machine,
    monotonic: () => at.elapsed,
    async database() {
      asked += 1
      if (isAway) throw new StoreUnavailable('away')
      pass(roundTrip / 2)
      const response = at.database
      pass(roundTrip / 2)
      return response
    },
    log: (entry) => log.push(entry),
  })
  return {
    clock,
    at,
    log,
    pass,
    asked: () => asked,
    setRoundTrip: (milliseconds: number) => {
      roundTrip = milliseconds
    },
    setAway: (isOut: boolean) => {
      isAway = isOut
    },
    /** Waits until the measurement that now() started is complete. */
    settle: () => new Promise((resolve) => setImmediate(resolve)),
    [Symbol.dispose]: () => clock.stop(),
  }
}

describe('the clock of a node with a database', () => {
  test.each([0, 61 * second, -61 * second, 3_600 * second])(
    'differs from the clock of the database by at most 3 ms if the machine clock is %i ms ahead',
    async (ahead) => {
      using it = await setUp(ahead)
      expect(Math.abs(it.clock.now() - it.at.database)).toBeLessThanOrEqual(3)
      it.pass(50 * second)
      expect(Math.abs(it.clock.now() - it.at.database)).toBeLessThanOrEqual(3)
      expect(it.asked()).toBe(1)
    },
  )

  test('ignores a jump of the machine clock, and measures the difference again', async () => {
    using it = await setUp()
    it.pass(10 * second)
    it.at.machine += 3_600 * second
    const { database } = it.at
    expect(Math.abs(it.clock.now() - database)).toBeLessThanOrEqual(3)
    await it.settle()
    expect(it.asked()).toBe(2)
    expect(await it.clock.isWrong()).toBe(true)
    it.pass(10 * second)
    for (let n = 0; n < 100; n += 1) it.clock.now()
    expect(it.asked(), 'a known difference does not cause a query for every request').toBe(2)
  })

  test('corrects itself after a suspension of the machine stopped the monotonic clock', async () => {
    using it = await setUp()
    it.pass(10 * second)
    it.at.machine += 3_600 * second
    it.at.database += 3_600 * second
    it.clock.now()
    await it.settle()
    expect(Math.abs(it.clock.now() - it.at.database)).toBeLessThanOrEqual(3)
    expect(await it.clock.isWrong()).toBe(false)
  })

  test('retains the more precise measurement if a later response is slow', async () => {
    using it = await setUp()
    const before = it.clock.now() - it.at.database
    it.setRoundTrip(2_000)
    await it.clock.sweepTime()
    expect(Math.abs(it.clock.now() - it.at.database - before)).toBeLessThanOrEqual(1)
  })

  test('continues to run while the database is unavailable', async () => {
    using it = await setUp()
    it.setAway(true)
    it.pass(3_600 * second)
    expect(Math.abs(it.clock.now() - it.at.database)).toBeLessThanOrEqual(3)
    await expect(it.clock.sweepTime()).rejects.toThrow(StoreUnavailable)
    expect(await it.clock.isWrong()).toBe(false)
  })

  test('logs a warning and continues if the clocks differ by more than 5 s, and otherwise logs nothing [T609]', async () => {
    using it = await setUp(4 * second)
    expect(it.log).toEqual([])
    it.at.machine += 2 * second
    expect(await it.clock.sweepTime()).toBeLessThanOrEqual(it.at.database)
    expect(it.log).toEqual([expect.objectContaining({ level: 'warn', event: 'clock.differs' })])
    expect(await it.clock.isWrong()).toBe(false)
  })

  test.each([31 * second, -31 * second])(
    'is wrong and allows no sweeps if the clocks differ by %i ms',
    async (ahead) => {
      using it = await setUp(ahead)
      expect(it.log).toEqual([
        expect.objectContaining({
          level: 'error',
          event: 'clock.wrong',
          message: expect.stringContaining(ahead > 0 ? '31.0 s ahead of' : '31.0 s behind'),
        }),
      ])
      expect(await it.clock.isWrong()).toBe(true)
      await expect(it.clock.sweepTime()).rejects.toThrow(ClockInDoubt)
      it.at.machine = it.at.database
      expect(await it.clock.isWrong()).toBe(false)
      expect(it.log.map(({ event }) => event)).toEqual(['clock.wrong', 'clock.agrees'])
      await expect(it.clock.sweepTime()).resolves.toBeLessThanOrEqual(it.at.database)
    },
  )

  test('allows no sweeps after the clock of the database jumped, as in a fail-over [T611]', async () => {
    using it = await setUp()
    it.at.database += 86_400 * second
    await expect(it.clock.sweepTime()).rejects.toThrow(ClockInDoubt)
  })
})
