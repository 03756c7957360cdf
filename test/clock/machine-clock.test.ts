import { describe, expect, test } from 'vitest'
import { MachineClock } from '../../src/server/clock/machine-clock.ts'
import { ClockInDoubt } from '../../src/server/clock/server-clock.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const start = Date.UTC(2026, 0, 1)

/** Creates a clock for a machine whose time the test sets. `kept` is the stored time of the last sweep. */
const setUp = (kept?: number) => {
  const at = { elapsed: 0, machine: start }
  const written: number[] = []
  const clock = new MachineClock({
    machine: () => at.machine,
    monotonic: () => at.elapsed,
    lastSweep: {
      read: async () => written.at(-1) ?? kept,
      write: async (time) => void written.push(time),
    },
  })
  const pass = (milliseconds: number): void => {
    at.elapsed += milliseconds
    at.machine += milliseconds
  }
  return { clock, at, pass, written }
}
const scheduled = true

describe('the clock of a node with SQLite', () => {
  test('allows sweeps while the clock advances evenly', async () => {
    const { clock, at, pass } = setUp()
    for (let n = 0; n < 100; n += 1) {
      pass(hour)
      expect(await clock.sweepTime(scheduled)).toBe(at.machine)
    }
    expect(clock.now()).toBe(at.machine)
  })

  test.each([day, 31_000, -day])(
    'allows no sweep for an hour after a jump of %i ms [T832]',
    async (jump) => {
      const { clock, at, pass } = setUp()
      await clock.sweepTime(scheduled)
      pass(minute)
      at.machine += jump
      await expect(clock.sweepTime(scheduled)).rejects.toThrow(ClockInDoubt)
      pass(hour - 1)
      await expect(clock.sweepTime(false)).rejects.toThrow(ClockInDoubt)
      pass(1)
      expect(await clock.sweepTime(scheduled)).toBe(at.machine)
    },
  )

  test('allows sweeps while the machine clock gains five seconds per minute', async () => {
    const { clock, at, pass } = setUp()
    for (let n = 0; n < 100; n += 1) {
      pass(minute)
      at.machine += 5_000
      await clock.sweepTime(scheduled)
    }
    expect(clock.now()).toBe(at.machine)
  })

  test('allows scheduled sweeps only an hour after a start if the last sweep was a month ago, but always allows requested sweeps [T833]', async () => {
    const { clock, at, pass, written } = setUp(start - 31 * day)
    pass(minute)
    await expect(clock.sweepTime(scheduled)).rejects.toThrow(ClockInDoubt)
    expect(written).toEqual([])
    expect(await clock.sweepTime(false)).toBe(at.machine)
    pass(hour)
    expect(await clock.sweepTime(scheduled)).toBe(at.machine)
    expect(written).toEqual([at.machine])
  })

  test('allows sweeps immediately after a first start, and if the last sweep was less than an hour ago or in the future', async () => {
    for (const kept of [undefined, start - 50 * minute, start + day]) {
      const { clock, at, pass } = setUp(kept)
      pass(minute)
      expect(await clock.sweepTime(scheduled)).toBe(at.machine)
    }
  })

  test('stores the time of the last sweep every ten minutes', async () => {
    const { clock, pass, written } = setUp()
    for (let n = 0; n < 60; n += 1) {
      pass(minute)
      await clock.sweepTime(scheduled)
    }
    expect(written).toHaveLength(6)
  })
})
