import type { LookupAddress } from 'node:dns'

/** A document to fetch. */
export interface Fetched {
  readonly url: string
  /** The accepted media types; `application/*+json` includes all of that kind. */
  readonly accept: readonly string[]
  /** The maximum size in bytes. */
  readonly largest: number
}

export interface OutboundRequest<T> extends Fetched {
  /** Parses the document. Its errors go to the caller, and the document is not cached. */
  readonly read: (document: unknown) => T
  /** The maximum age of a cached document in seconds, as the directive of that name (RFC 9111 §5.2.1.1). */
  readonly maxAge?: number
  /** The address of the sender whose request causes this one. One network cannot take all places. */
  readonly requester?: string
  /** Runs before a request is sent, and can refuse by throwing. */
  readonly beforeSending?: () => Promise<void>
}

export interface OutboundFailure {
  /** The reason, for the log only. */
  readonly cause?: unknown
  /** Whether a retry may succeed: the host did not answer in time, or reported an outage. */
  readonly isOutage?: boolean
}

/**
 * An outbound request that failed or returned an unacceptable response. The message is shown to the client that named
 * the URL, so it contains no resolved address.
 */
export class OutboundFailed extends Error {
  override readonly name = 'OutboundFailed'
  readonly isOutage: boolean

  constructor(message: string, { cause, isOutage = false }: OutboundFailure = {}) {
    super(message, cause === undefined ? {} : { cause })
    this.isOutage = isOutage
  }
}

/** Options of outbound requests. */
export interface OutboundOptions {
  /**
   * Finds all addresses of a host name; by default, the name servers of the system are queried. The signal aborts the
   * look-up; as long as it runs, it counts as a concurrent request.
   */
  readonly resolve?: (hostname: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>
  /** Certificate authorities in PEM, instead of the well-known ones. */
  readonly certificateAuthorities?: readonly string[]
}

/** Sends requests to URLs that clients chose, under strict rules against server-side request forgery. */
export interface Outbound {
  /**
   * Fetches a JSON document over https, and caches it (RFC 9111).
   * @throws OutboundFailed
   */
  json<T>(request: OutboundRequest<T>): Promise<T>
  /**
   * Checks in memory whether `json` would send a request now. The URL must be valid.
   * @returns false if the document is cached, or another caller already waits for it
   * @throws OutboundFailed if no place is free for the requester, or the last request failed just now
   */
  wouldSend(request: Fetched & Pick<OutboundRequest<unknown>, 'maxAge' | 'requester'>): boolean
}
