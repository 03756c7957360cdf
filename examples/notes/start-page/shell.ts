import { type Html, html, type PageSession } from 'svc-oauth2server'
import type { Links } from './links.ts'

/** The name of the example, which its own pages and the pages of the server show. */
export const brand = 'Notes'

/**
 * `script-src` permits the script of the start page and the script that adds the JWT of the session to requests.
 * `connect-src` permits the requests of the start page. Without `form-action`, a login may end at any application.
 */
export const contentSecurityPolicy =
  "default-src 'none'; connect-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'"

interface Shell {
  readonly title: string
  readonly links: Links
  readonly session: Pick<PageSession, 'user' | 'csrfToken'>
  readonly content: Html
  /** The scripts of the page; by default, the page has none. */
  readonly scripts?: Html
}

/** Renders a page of the example in the style of the server's own pages. */
export const shell = ({ title, links, session, content, scripts }: Shell): Promise<string> => {
  const { user, csrfToken } = session
  const account = user
    ? html`<nav aria-label="Account">
<ul>
<li><a href="${links.applications}">Applications</a></li>
<li><a href="${links.sessions}">Sessions</a></li>
<li><a href="${links.activity}">Activity</a></li>
${user.isAdmin ? html`<li><a href="${links.admin}">Administration</a></li>` : ''}
</ul>
</nav>
<form class="account" method="post" action="${links.logout}">
<input type="hidden" name="csrf_token" value="${csrfToken}">
<bdi>${user.email}</bdi>
<button type="submit" class="quiet">Log out</button>
</form>`
    : ''
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title === brand ? brand : `${title} · ${brand}`}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${links.pageStyle}">
<link rel="stylesheet" href="${links.style}">
${scripts}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<a class="brand" href="${links.home}">${brand}</a>
${account}
</header>
<main id="main">
${content}
</main>
</body>
</html>
`
  return Promise.resolve(page).then(String)
}
