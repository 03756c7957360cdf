/** The refusal of a request of a client, as its owner sees it. It contains no secret and no other parameter. */
export interface Refusal {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The error code of the protocol. */
  readonly error: string
  readonly description: string
  /** The redirect URI of the request, if it was the reason. */
  readonly redirectUri?: string
}
