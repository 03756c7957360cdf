/** Rows of the first batch. Small, because the speed of this database is not known yet. */
export const firstBatch = 20
/** Maximum rows of a batch. */
const maxBatch = 1_000
/** Target maximum of milliseconds per batch: on SQLite, requests that write wait for the whole batch. */
const maxBatchTime = 10
/** Minimum milliseconds between two batches, in which requests do not compete with the sweeper. */
const minPause = 2
/** Maximum milliseconds between two batches: one batch that was slowed by a busy disk must not delay the run for long. */
const maxPause = 500
/** Pause after a batch, as a multiple of its duration, so that the sweeper leaves most of the CPU and disk to requests. */
const pauseFactor = 4
/** The same for a run that is behind. */
const shortPauseFactor = 1
/** Milliseconds after which a run is behind: with long pauses, it might not keep up with the rows that expire. */
const behindAfter = 60_000

/** The number of rows of one kind to remove per batch. It grows while batches are full and fast, and shrinks if they are slow. */
export class BatchSize {
  #rows = firstBatch

  get rows(): number {
    return this.#rows
  }

  /** Adapts the size to the last batch: the rows that it removed, and its duration in milliseconds. */
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
