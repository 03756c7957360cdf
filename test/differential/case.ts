import type { Peer } from './peer.ts'

/** A request, or a sequence of requests, that every server receives. */
export interface Case {
  readonly id: string
  /** The section of the RFC that defines the response. */
  readonly rule: string
  readonly what: string
  /** The optional endpoint that the case requires. */
  readonly needs?: 'revoke' | 'introspect' | 'metadata'
  /**
   * Sends the requests.
   * @returns the outcome as a short text, which is compared with the outcomes of the other servers
   */
  readonly run: (peer: Peer) => Promise<string>
}
