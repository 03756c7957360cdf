import type { Complaint } from '../support/observed-server.ts'

/** Reasons for which a request may get 503, by the cause in its log line. */
const reasons: Readonly<Record<string, RegExp>> = {
  // The client ID is an https address whose host does not exist. Its document is unknown, so "invalid client" would be
  // a verdict about a client that may become valid later.
  'the document of a client is away': /OutboundFailed/,
  // More passwords at once than can be hashed: only in requests that are sent on purpose.
  'too many passwords': /PasswordHashingBusy/,
}

export interface Unavailability {
  /** The number of 503 answers for each reason, from the log. */
  readonly counts: Readonly<Record<string, number>>
  /** The other problems in the log. */
  readonly others: readonly Complaint[]
}

/** Separates 503 answers with a known reason from failures. */
export const unavailabilityOf = (complaints: readonly Complaint[]): Unavailability => {
  const counts: Record<string, number> = Object.fromEntries(
    Object.keys(reasons).map((reason) => [reason, 0]),
  )
  const others = complaints.filter(({ kind, text }) => {
    const [reason] = Object.entries(reasons).find(([, says]) => says.test(text)) ?? []
    if (kind !== 'request.unavailable' || reason === undefined) return true
    counts[reason] = (counts[reason] ?? 0) + 1
    return false
  })
  return { counts, others }
}
