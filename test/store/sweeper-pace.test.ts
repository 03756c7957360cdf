import { describe, expect, test } from 'vitest'
import { BatchSize, pauseAfter } from '../../src/server/sweeper/sweeper-pace.ts'

/** The sizes of successive parts of a large backlog on a database that takes so many milliseconds for a row. */
const sizesAt = (perRow: number, parts: number): readonly number[] => {
  const size = new BatchSize()
  return Array.from({ length: parts }, () => {
    const { rows } = size
    size.adapt(rows, rows * perRow)
    return rows
  })
}

describe('pace of the sweeper', () => {
  test('full and quick parts double, up to 1,000 rows', () => {
    expect(sizesAt(0.001, 8)).toEqual([20, 40, 80, 160, 320, 640, 1_000, 1_000])
  })

  test('parts grow until they take more than half of their time', () => {
    expect(sizesAt(0.05, 6)).toEqual([20, 40, 80, 160, 160, 160])
  })

  test('parts that take too long are halved, down to one row', () => {
    expect(sizesAt(1, 4)).toEqual([20, 10, 10, 10])
    expect(sizesAt(100, 6)).toEqual([20, 10, 5, 2, 1, 1])
  })

  test('parts that are not full do not grow', () => {
    const size = new BatchSize()
    size.adapt(19, 0.1)
    expect(size.rows).toBe(20)
  })

  test('a rest is four times as long as its part, and as long as it once a run is behind', () => {
    expect(pauseAfter(5, 0)).toBe(20)
    expect(pauseAfter(5, 60_001)).toBe(5)
    expect(pauseAfter(0.1, 0)).toBe(2)
    expect(pauseAfter(3_000, 0)).toBe(500)
  })
})
