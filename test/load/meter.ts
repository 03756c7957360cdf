/** The results of the requests of one kind. */
export interface Figures {
  readonly requests: number
  readonly failed: number
  /** The median in milliseconds. */
  readonly p50: number
  readonly p99: number
  readonly slowest: number
}

const at = (sorted: readonly number[], share: number): number =>
  Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 10) /
  10

/** Measures the duration of requests by kind. take() returns the figures since the previous call of take(). */
export class Meter {
  readonly #times = new Map<string, number[]>()
  readonly #failures = new Map<string, number>()
  /** The errors of the first failed requests. */
  readonly reasons: string[] = []

  /** Runs a request, and measures its duration. Counts a request that throws as a failure. */
  async time(kind: string, request: () => Promise<void>): Promise<void> {
    const begun = performance.now()
    try {
      await request()
    } catch (error) {
      this.#failures.set(kind, (this.#failures.get(kind) ?? 0) + 1)
      if (this.reasons.length < 20) this.reasons.push(`${kind}: ${error}`)
    }
    const times = this.#times.get(kind) ?? []
    times.push(performance.now() - begun)
    this.#times.set(kind, times)
  }

  take(): Readonly<Record<string, Figures>> {
    const figures = [...this.#times].map(([kind, times]): [string, Figures] => {
      const sorted = times.toSorted((a, b) => a - b)
      return [
        kind,
        {
          requests: sorted.length,
          failed: this.#failures.get(kind) ?? 0,
          p50: at(sorted, 0.5),
          p99: at(sorted, 0.99),
          slowest: at(sorted, 1),
        },
      ]
    })
    this.#times.clear()
    this.#failures.clear()
    return Object.fromEntries(figures)
  }
}
