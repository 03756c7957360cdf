import type { LookupAddress } from 'node:dns'

/** A document to fetch. */
export interface Fetched {
  readonly url: string
  /** The accepted media types. A type such as `application/*+json` is a pattern. */
  readonly accept: readonly string[]
  /** The maximum size in bytes. */
  readonly largest: number
}

/** A request for a document at a URL that a client supplied. */
export interface OutboundRequest<T, Content = unknown> extends Fetched {
  /** Parses the document. If this function throws, the caller receives the error and the document is not cached. */
  readonly read: (document: Content) => T
  /** The maximum age of a cached document in seconds, like the directive `max-age` (RFC 9111 §5.2.1.1). */
  readonly maxAge?: number
  /** The IP address of the user or client that needs the document. The server limits concurrent fetches per network. */
  readonly requester?: string
  /**
   * The purpose of the document. The requests of one purpose do not use all places, so that others remain possible.
   */
  readonly purpose?: 'metadata document' | 'keys' | 'request object' | 'sector'
  /** Runs before a request is sent. If this function throws, the request is not sent. */
  readonly beforeSending?: () => Promise<void>
}

/** A form that the server sends to a URL of a client. */
export interface OutboundForm {
  readonly url: string
  /** `application/x-www-form-urlencoded`. */
  readonly form: string
}

export interface OutboundFailure {
  /** The reason, for the log only. */
  readonly cause?: unknown
  /** Whether a retry may succeed, for instance after a timeout or an outage of the host. */
  readonly isOutage?: boolean
}

/**
 * An outbound request that failed or returned an unacceptable response. The client that supplied the URL receives the
 * message, so the message must not contain the resolved IP address.
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
   * Finds all addresses of a host name; by default, queries the name servers of the system. The signal aborts the
   * look-up. A running look-up counts towards the limit of concurrent requests.
   */
  readonly resolve?: (hostname: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>
  /** Certificate authorities in PEM, which replace the well-known authorities. */
  readonly certificateAuthorities?: readonly string[]
}

/** Sends requests to URLs that clients supplied, under strict rules against server-side request forgery. */
export interface Outbound {
  /**
   * Fetches a JSON document over https and caches the document (RFC 9111).
   * @throws OutboundFailed
   */
  json<T>(request: OutboundRequest<T>): Promise<T>
  /**
   * Fetches a text over https, for instance a JWT. Caches the text by the same rules as `json`.
   * @throws OutboundFailed
   */
  text<T>(request: OutboundRequest<T, string>): Promise<T>
  /**
   * Fetches a file over https in the background, and does not cache it. Waits until a place is free.
   * @throws OutboundFailed
   */
  bytes(request: Fetched): Promise<Buffer>
  /**
   * Sends a form over https in the background. Waits until a place is free. Every status from 200 to 299 is a success, and the body of the response is ignored.
   * @throws OutboundFailed
   */
  post(message: OutboundForm): Promise<void>
  /**
   * Returns whether `json` would send a request now. The URL must be valid.
   * @returns false if the document is cached, or if another caller is already fetching it
   * @throws OutboundFailed if too many requests are running, or if the same request failed less than three seconds ago
   */
  wouldSend(
    request: Fetched & Pick<OutboundRequest<unknown>, 'maxAge' | 'requester' | 'purpose'>,
  ): boolean
}
