import type { ResponseType } from './client.ts'

/** A validated authorization request: all that the user is asked to decide on. RFC 6749 §4.1.1, §4.2.1. */
export interface AuthorizationRequest {
  readonly clientId: string
  readonly responseType: ResponseType
  readonly redirectUri: string
  /** Whether the request named the redirect URI (RFC 6749 §4.1.3). */
  readonly redirectUriGiven: boolean
  readonly scopes: readonly string[]
  readonly state: string | undefined
  readonly prompt: readonly Prompt[]
  /** The languages that the pages are asked for in (OpenID Connect Core §3.1.2.1). */
  readonly uiLocales: string | undefined
  /** What extensions added, by their names. */
  readonly extensions: Readonly<Record<string, unknown>>
}

/** `consent` shows the page again, `login` logs in again, `none` shows nothing. */
export type Prompt = 'none' | 'login' | 'consent'
