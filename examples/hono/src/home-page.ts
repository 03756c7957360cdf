import { html, raw } from 'hono/html'

/** The part of the result of `page(server)` that this page needs. */
interface Session {
  readonly user: { readonly email: string } | null
  readonly jwt: () => string
  readonly csrfToken: string
  readonly links: {
    readonly script: string
    readonly login: string
    readonly logout: string | null
    readonly applications: string
  }
}

/** Renders the home page. `jwt()` returns trusted HTML, so `raw` inserts it without escaping. */
export const homePage = ({ user, jwt, csrfToken, links }: Session) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Notes</title>
<script src="${links.script}" defer></script>
</head>
<body>
<h1>Notes</h1>
${
  user
    ? html`<p>You are logged in as ${user.email}.</p>
<p><a href="${links.applications}">Applications and tokens</a></p>
${raw(jwt())}
<form method="post" action="${links.logout}">
<input type="hidden" name="csrf_token" value="${csrfToken}">
<button>Log out</button>
</form>`
    : html`<p><a href="${links.login}">Log in</a></p>`
}
</body>
</html>
`
