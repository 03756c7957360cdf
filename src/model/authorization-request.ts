import type { ResponseType } from './response-type.ts'

/** A validated authorization request, which the user approves or denies. RFC 6749 §4.1.1, §4.2.1. */
export interface AuthorizationRequest {
  readonly clientId: string
  readonly responseType: ResponseType
  readonly responseMode: ResponseMode
  readonly redirectUri: string
  /** Whether the request contained the redirect URI (RFC 6749 §4.1.3). */
  readonly redirectUriGiven: boolean
  readonly scopes: readonly string[]
  readonly state: string | undefined
  readonly prompt: readonly Prompt[]
  /** The preferred languages of the pages (OpenID Connect Core §3.1.2.1). */
  readonly uiLocales: string | undefined
  /** Values that extensions added, by the name of the extension. */
  readonly extensions: Readonly<Record<string, unknown>>
}

/** How the response reaches the client: in the query or the fragment of a redirect, or in the body of a form. */
export type ResponseMode = 'query' | 'fragment' | 'form_post'

/**
 * `consent` shows the consent page again, `login` requires a new login, `select_account` lets the user log in with
 * another account, `none` shows no page.
 */
export type Prompt = 'none' | 'login' | 'consent' | 'select_account'
