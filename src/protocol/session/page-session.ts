import { html } from 'hono/html'
import type { UserProxy } from '../../model/user.ts'
import type { BrowserCredentials, Sessions } from './sessions.ts'

/** URLs for the pages of the application. */
export interface PageLinks {
  /** The script that adds the JWT to the requests of the page. */
  readonly script: string
  readonly login: string
  /** The logout URL, which requires a POST with the `csrf_token`; null if the application has its own login. */
  readonly logout: string | null
  /** The page on which users manage their applications and tokens. */
  readonly applications: string
}

/** The session data that a page of the application needs. */
export interface PageSession {
  /** Null if no user is signed in. */
  readonly user: UserProxy | null
  /** Returns the markup of a hidden field named `authorized_token` with the JWT; empty if no user is signed in. */
  readonly jwt: () => string
  /** Returns the JWT; empty if no user is signed in. */
  readonly jwtToken: () => string
  /** The CSRF token for forms of the page. */
  readonly csrfToken: string
  /** The `Set-Cookie` value for a browser without a cookie. The CSRF token is bound to this cookie. */
  readonly setCookie: string | undefined
  readonly links: PageLinks
}

export const pageSession = async (
  sessions: Sessions,
  browser: BrowserCredentials,
  links: PageLinks,
): Promise<PageSession> => {
  const signedIn = await sessions.signedIn(browser)
  const token = signedIn ? await sessions.jwtToken(signedIn) : ''
  const field = signedIn
    ? `${await html`<input type="hidden" name="authorized_token" value="${token}">`}`
    : ''
  const { csrfToken, setCookie } = sessions.csrf(browser.cookie)
  return {
    user: signedIn?.user ?? null,
    jwt: () => field,
    jwtToken: () => token,
    csrfToken,
    setCookie,
    links,
  }
}
