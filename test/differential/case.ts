import type { Peer } from './peer.ts'

/** One question of the protocol that every server is asked in the same way. */
export interface Case {
  readonly id: string
  /** The section that it is about. */
  readonly rule: string
  readonly what: string
  /** The endpoint that it needs, besides those for authorizations and tokens. */
  readonly needs?: 'revoke' | 'introspect' | 'metadata'
  /** @returns what came of it, in a few words that can be compared */
  readonly run: (peer: Peer) => Promise<string>
}
