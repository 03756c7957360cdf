import type { LookupAddress } from 'node:dns'

/** A document that is asked for. */
export interface Fetched {
  readonly url: string
  /** Media types that the answer may have; `application/*+json` stands for all of that kind. */
  readonly accept: readonly string[]
  /** Bytes that it may have at most. */
  readonly largest: number
}

export interface OutboundRequest<T> extends Fetched {
  /** Reads the document. What it throws goes to the caller, and such a document is not kept. */
  readonly read: (document: unknown) => T
  /** Seconds: what was kept longer than that is asked for again, as by the directive of that name (RFC 9111 §5.2.1.1). */
  readonly maxAge?: number
  /** The address of the sender whose request causes this one; of one network, not all places can be taken. */
  readonly requester?: string
  /** Runs before a request is sent for which there is a place. It can refuse by throwing. */
  readonly beforeSending?: () => Promise<void>
}

export interface OutboundFailure {
  /** Why it really happened: for the log alone. */
  readonly cause?: unknown
  /** Whether it may well succeed later: nobody answered in time, or only that there is an outage. */
  readonly isOutage?: boolean
}

/**
 * An outbound request that failed or returned an unacceptable response. The message is shown to the client that named
 * the address, so it contains nothing that was resolved.
 */
export class OutboundFailed extends Error {
  override readonly name = 'OutboundFailed'
  readonly isOutage: boolean

  constructor(message: string, { cause, isOutage = false }: OutboundFailure = {}) {
    super(message, cause === undefined ? {} : { cause })
    this.isOutage = isOutage
  }
}

/** What the host may change of how the server sends requests. */
export interface OutboundOptions {
  /**
   * Finds all addresses of a host name; without it, the system's name servers are asked. The signal is given when
   * nobody waits any more, but a look-up that goes on counts as a request under way until it has ended.
   */
  readonly resolve?: (hostname: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>
  /** Certificate authorities in PEM, instead of the well-known ones. */
  readonly certificateAuthorities?: readonly string[]
}

/** Sends requests to addresses that strangers have named, which is why so little is allowed. */
export interface Outbound {
  /**
   * Fetches a JSON document over https, and keeps it as HTTP caches do (RFC 9111).
   * @throws OutboundFailed
   */
  json<T>(request: OutboundRequest<T>): Promise<T>
  /**
   * Checks in memory whether `json` would send a request now. The address must be a valid one.
   * @returns false where the document is kept, or another caller waits for it already
   * @throws OutboundFailed where no place is free for the requester, or the last request failed just now
   */
  wouldSend(request: Fetched & Pick<OutboundRequest<unknown>, 'maxAge' | 'requester'>): boolean
}
