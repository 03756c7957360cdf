import type { Complaint } from '../support/observed-server.ts'

/** Why a request may be put off with 503: what its line in the log says of the cause. */
const reasons: Readonly<Record<string, RegExp>> = {
  // The client named is an https address, whose host is not there. Nobody knows what stands in its document, so
  // that it is no client would be a verdict about somebody who may be one tomorrow.
  'the document of a client is away': /OutboundFailed/,
  // More passwords at once than can be hashed: only what is sent on purpose.
  'too many passwords': /PasswordHashingBusy/,
}

export interface PutOff {
  /** How many requests were put off for each reason, as the log says. */
  readonly counts: Readonly<Record<string, number>>
  /** What else the log complains of. */
  readonly others: readonly Complaint[]
}

/** Tells requests that were put off for a known reason from everything that must not be. */
export const putOff = (complaints: readonly Complaint[]): PutOff => {
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
