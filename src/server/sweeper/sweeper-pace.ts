/** Rows of the first part. It is small because nobody knows yet how long a part takes on this database. */
export const firstPart = 20
/** Rows of a part at most. */
const largestPart = 1_000
/** Milliseconds that a part should take at most: on SQLite, requests that write wait for as long. */
const partTime = 10
/** Milliseconds at least between two parts, in which requests have the database for themselves. */
const shortestRest = 2
/** Milliseconds at most: one part that met a busy disk says nothing about the next. */
const longestRest = 500
/** How many times as long as a part the rest after it is: the CPU and the disk must keep up with both. */
const restShare = 4
/** The same for a run that is behind. */
const shortRestShare = 1
/** Milliseconds after which a run is behind: more rows expire than the long rests leave time for. */
const behindAfter = 60_000

/** How many rows of one kind to remove in a part: more while parts are full and quick, fewer if they are slow. */
export class PartSize {
  #rows = firstPart

  get rows(): number {
    return this.#rows
  }

  /** Takes note of a part: the rows that it removed, and its milliseconds. */
  took(removed: number, milliseconds: number): void {
    if (milliseconds > partTime) this.#rows = Math.max(1, Math.floor(this.#rows / 2))
    // Half of the time: twice the rows then take the whole of it.
    else if (milliseconds < partTime / 2 && removed >= this.#rows)
      this.#rows = Math.min(largestPart, this.#rows * 2)
  }
}

/** Returns the milliseconds of rest after a part of a run that has been going on for that long. */
export const restAfter = (part: number, running: number): number =>
  Math.min(
    longestRest,
    Math.max(shortestRest, part * (running > behindAfter ? shortRestShare : restShare)),
  )
