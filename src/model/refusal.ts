/** A refused request of a client, as the owner of the client sees it. */
export interface Refusal {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The error code of the protocol. */
  readonly error: string
  readonly description: string
  /** The redirect URI of the request, if the server refused the request because of this URI. */
  readonly redirectUri?: string
}
