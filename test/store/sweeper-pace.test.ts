import { describe, expect, test } from 'vitest'
import { BatchSize, pauseAfter } from '../../src/server/sweeper/sweeper-pace.ts'

/** Returns the sizes of successive batches of a large backlog. @param perRow milliseconds per row */
const sizesAt = (perRow: number, parts: number): readonly number[] => {
  const size = new BatchSize()
  return Array.from({ length: parts }, () => {
    const { rows } = size
    size.adapt(rows, rows * perRow)
    return rows
  })
}

describe('pace of the sweeper', () => {
  test('doubles full and quick batches, up to 1,000 rows', () => {
    expect(sizesAt(0.001, 8)).toEqual([20, 40, 80, 160, 320, 640, 1_000, 1_000])
  })

  test('grows batches until they take more than half of their time', () => {
    expect(sizesAt(0.05, 6)).toEqual([20, 40, 80, 160, 160, 160])
  })

  test('halves batches that take too long, down to one row', () => {
    expect(sizesAt(1, 4)).toEqual([20, 10, 10, 10])
    expect(sizesAt(100, 6)).toEqual([20, 10, 5, 2, 1, 1])
  })

  test('does not grow batches that are not full', () => {
    const size = new BatchSize()
    size.adapt(19, 0.1)
    expect(size.rows).toBe(20)
  })

  test('rests four times as long as the batch took, but only as long as the batch in a run of more than a minute', () => {
    expect(pauseAfter(5, 0)).toBe(20)
    expect(pauseAfter(5, 60_001)).toBe(5)
    expect(pauseAfter(0.1, 0)).toBe(2)
    expect(pauseAfter(3_000, 0)).toBe(500)
  })
})
