import type { RedirectUriDifference } from '../../model/redirect-difference.ts'

/** The details of a refused authorization request, for the owner of the application and for administrators. */
export interface RefusedRedirectDetails {
  /** The name of the application. */
  readonly name: string
  readonly isDisabled: boolean
  /** The refused redirect URI, which may contain any character; undefined if the request has no redirect URI. */
  readonly redirectUri: string | undefined
  readonly registered: readonly string[]
  /**
   * The difference from the most similar registered URI. Undefined if the request has no redirect URI, or if no URI is
   * registered.
   */
  readonly difference: RedirectUriDifference | undefined
  /** The URL of the page on which the user manages the application. */
  readonly client: string
}
