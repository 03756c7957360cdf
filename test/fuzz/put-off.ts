import type { Complaint } from '../support/observed-server.ts'

/** The permitted reasons for a 503, by the cause in the log entry. */
const reasons: Readonly<Record<string, RegExp>> = {
  // The client ID is a URL whose host name cannot be resolved. The failure may be temporary, so the server does not
  // respond with invalid_client.
  'the metadata document of a client cannot be fetched': /OutboundFailed/,
  // The queue of password hashes is full. Only `overload` sends enough passwords for that.
  'the queue of password hashes is full': /PasswordHashingBusy/,
}

export interface Unavailability {
  /** The number of 503 responses for each reason, from the log. */
  readonly counts: Readonly<Record<string, number>>
  /** All other problems in the log. */
  readonly others: readonly Complaint[]
}

/** Separates 503 responses with a known reason from failures. */
export const unavailabilityOf = (complaints: readonly Complaint[]): Unavailability => {
  const counts: Record<string, number> = Object.fromEntries(
    Object.keys(reasons).map((reason) => [reason, 0]),
  )
  const others = complaints.filter(({ kind, text }) => {
    const [reason] = Object.entries(reasons).find(([, pattern]) => pattern.test(text)) ?? []
    if (kind !== 'request.unavailable' || reason === undefined) return true
    counts[reason] = (counts[reason] ?? 0) + 1
    return false
  })
  return { counts, others }
}
