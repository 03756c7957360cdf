import { setTimeout as delay } from 'node:timers/promises'

/** The number of rows of the first batch, which is small because the speed of the database is still unknown. */
export const firstBatch = 20
/** The maximum number of rows of a batch. */
const maxBatch = 1_000
/** The target duration of a batch in milliseconds. On SQLite, requests that write wait for the whole batch. */
const maxBatchTime = 10
/** The minimum pause between two batches in milliseconds. */
const minPause = 2
/** The maximum pause between two batches in milliseconds. A busy disk can slow a batch down, and extend the pause. */
const maxPause = 500
/** The pause after a batch, relative to the duration of the batch. Meanwhile, requests can use the CPU and the disk. */
const pauseFactor = 4
/** The relative pause in a run that has taken longer than `behindAfter`. */
const shortPauseFactor = 1
/** Milliseconds after which a run counts as behind: rows may expire faster than the run removes them. */
const behindAfter = 60_000

/**
 * The number of rows of one kind to remove per batch. The number doubles after a full and fast batch, and is
 * halved after a slow batch.
 */
export class BatchSize {
  #rows = firstBatch

  get rows(): number {
    return this.#rows
  }

  /** Adapts the size to the number of rows that the last batch removed, and to the duration of the batch. */
  adapt(removed: number, milliseconds: number): void {
    if (milliseconds > maxBatchTime) this.#rows = Math.max(1, Math.floor(this.#rows / 2))
    // Double the size only if the doubled batch should still fit into the target time.
    else if (milliseconds < maxBatchTime / 2 && removed >= this.#rows)
      this.#rows = Math.min(maxBatch, this.#rows * 2)
  }
}

/** Returns the pause in milliseconds after a batch, from the durations of that batch and of the run so far. */
export const pauseAfter = (batch: number, run: number): number =>
  Math.min(
    maxPause,
    Math.max(minPause, batch * (run > behindAfter ? shortPauseFactor : pauseFactor)),
  )

/**
 * Removes about `limit` rows of one kind.
 * @returns the number of removed rows; null if nothing more is to be removed now
 */
export type RemoveSome = (limit: number) => Promise<number | null>

/**
 * Removes the rows of several kinds in batches until no rows are left, or until `signal` is aborted. Alternates between
 * the kinds, so that a backlog of one kind does not delay the other kinds. An error ends only its kind.
 * @returns the number of removed rows
 * @throws the first error, after the other kinds have ended
 */
export const removeInBatches = async (
  kinds: readonly RemoveSome[],
  signal: AbortSignal,
  afterBatch: () => Promise<void> = async () => undefined,
): Promise<number> => {
  const startedAt = performance.now()
  const sizes = new Map(kinds.map((removeSome) => [removeSome, new BatchSize()]))
  const failures: unknown[] = []
  let removed = 0
  while (sizes.size > 0 && !signal.aborted) {
    for (const [removeSome, size] of sizes) {
      if (signal.aborted) break
      const batchStartedAt = performance.now()
      try {
        const rows = await removeSome(size.rows)
        if (rows === null) sizes.delete(removeSome)
        size.adapt(rows ?? 0, performance.now() - batchStartedAt)
        removed += rows ?? 0
        await afterBatch()
      } catch (error) {
        sizes.delete(removeSome)
        failures.push(error)
      }
      const pause = pauseAfter(performance.now() - batchStartedAt, performance.now() - startedAt)
      await delay(pause, undefined, { signal }).catch(() => undefined)
    }
  }
  if (failures.length > 0) throw failures[0]
  return removed
}
