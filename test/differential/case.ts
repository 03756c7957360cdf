import type { Peer } from './peer.ts'

/** One request that every server receives in the same form. */
export interface Case {
  readonly id: string
  /** The section that defines the answer. */
  readonly rule: string
  readonly what: string
  /** The endpoint that it needs, besides those for authorizations and tokens. */
  readonly needs?: 'revoke' | 'introspect' | 'metadata'
  /** @returns a short outcome that can be compared */
  readonly run: (peer: Peer) => Promise<string>
}
