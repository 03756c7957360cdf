import { html } from 'hono/html'
import type { UserProxy } from '../../model/user.ts'
import type { BrowserCredentials, Sessions } from './sessions.ts'

/** Addresses for the pages of the application. */
export interface PageLinks {
  /** The script that adds the JWT of the page to the page's own requests. */
  readonly script: string
  readonly login: string
  /** Takes a POST with the `csrf_token`; null where users log in and out at the application itself. */
  readonly logout: string | null
  /** Where users manage their applications and tokens. */
  readonly applications: string
}

/** What a page of the application needs of the session. */
export interface PageSession {
  /** Null where nobody is signed in. */
  readonly user: UserProxy | null
  /** A hidden field named `authorized_token` with the JWT, as markup; empty where nobody is signed in. */
  readonly jwt: () => string
  /** The JWT alone; empty where nobody is signed in. */
  readonly jwtToken: () => string
  /** For the page's own forms. */
  readonly csrfToken: string
  /** The `Set-Cookie` that a browser without our cookie needs for them. */
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
