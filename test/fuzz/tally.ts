import type { FuzzRequest } from './requests.ts'
import type { Ending } from './sender.ts'

/** A failed request, and its number, with which it can be repeated. */
export interface Failure {
  readonly number: number
  readonly endpoint: string
  readonly kind: string
  readonly status: Ending['status']
  /** The sent bytes, with control characters escaped as in JSON. */
  readonly request: string
}

const longestShown = 2_000

type Counts = Record<string, number>

/** Counts the results of requests by endpoint and by kind, and collects the failures. */
export class Tally {
  readonly endpoints = new Map<string, Counts>()
  readonly kinds = new Map<string, Counts>()
  readonly offences: Failure[] = []
  offenceCount = 0
  /** The number of 503 responses with Retry-After. The log shows whether there was a reason. */
  putOff = 0
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
    const isPutOff = status === 503 && /^\d+$/.test(retryAfter ?? '')
    if (isPutOff) this.putOff += 1
    const isOffence = status === 'silent' || (typeof status === 'number' && status >= 500)
    if (isOffence && !isPutOff) this.#offend(request, status)
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

  #offend({ number, endpoint, kind, bytes }: FuzzRequest, status: Ending['status']): void {
    this.offenceCount += 1
    if (this.offences.length >= 50) return
    const request = JSON.stringify(bytes.toString('latin1').slice(0, longestShown))
    this.offences.push({ number, endpoint, kind, status, request })
  }
}

const count = (rows: Map<string, Counts>, row: string, status: Ending['status']): void => {
  const counts = rows.get(row) ?? {}
  counts[status] = (counts[status] ?? 0) + 1
  rows.set(row, counts)
}
