import type { FuzzRequest } from './requests.ts'
import type { Ending } from './sender.ts'

/** A failed request. `--only` repeats the request with this number. */
export interface Failure {
  readonly number: number
  readonly endpoint: string
  readonly kind: string
  readonly status: Ending['status']
  /** The sent bytes, with control characters escaped as in JSON. */
  readonly request: string
}

const maxShownLength = 2_000

type Counts = Record<string, number>

/** Counts the results of requests by endpoint and by kind, and collects the failures. */
export class Tally {
  readonly endpoints = new Map<string, Counts>()
  readonly kinds = new Map<string, Counts>()
  readonly failures: Failure[] = []
  failureCount = 0
  /** The number of 503 responses with Retry-After. The log contains the reason of each. */
  unavailable = 0
  total = 0
  /** The number of requests by duration in milliseconds. */
  readonly #times = new Uint32Array(60_001)
  #timed = 0

  note(request: FuzzRequest, { status, retryAfter, took }: Ending): void {
    this.total += 1
    count(this.endpoints, request.endpoint, status)
    count(this.kinds, request.kind, status)
    if (typeof status === 'number') {
      const at = Math.min(60_000, Math.round(took))
      this.#times[at] = (this.#times[at] ?? 0) + 1
      this.#timed += 1
    }
    const isUnavailable = status === 503 && /^\d+$/.test(retryAfter ?? '')
    if (isUnavailable) this.unavailable += 1
    const isFailure = status === 'silent' || (typeof status === 'number' && status >= 500)
    if (isFailure && !isUnavailable) this.#addFailure(request, status)
  }

  /** Returns the milliseconds within which this share of requests got a response. */
  within(share: number): number {
    let left = this.#timed * share
    for (let at = 0; at < this.#times.length; at += 1) {
      left -= this.#times[at] ?? 0
      if (left <= 0) return at
    }
    return this.#times.length
  }

  #addFailure({ number, endpoint, kind, bytes }: FuzzRequest, status: Ending['status']): void {
    this.failureCount += 1
    if (this.failures.length >= 50) return
    const request = JSON.stringify(bytes.toString('latin1').slice(0, maxShownLength))
    this.failures.push({ number, endpoint, kind, status, request })
  }
}

const count = (rows: Map<string, Counts>, row: string, status: Ending['status']): void => {
  const counts = rows.get(row) ?? {}
  counts[status] = (counts[status] ?? 0) + 1
  rows.set(row, counts)
}
