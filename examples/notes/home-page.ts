import type { AuthorizationServer, PageSession, UserProxy } from 'svc-oauth2server'

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)

/** Renders the home page with the logged-in user, and with the JWT that scripts of the application could send. */
export const homePage = (
  user: UserProxy | null,
  { jwt, csrfToken, links }: Pick<PageSession, 'jwt' | 'csrfToken' | 'links'>,
  { issuer, settings }: AuthorizationServer,
): string => {
  const base = new URL(issuer).pathname.replace(/\/$/, '')
  const content = user
    ? `<p>You are logged in as <strong>${escaped(user.email)}</strong>.</p>
<p><a href="${links.applications}">Applications and tokens</a></p>
${jwt()}
<form method="post" action="${base}${settings.logoutPath}">
<input type="hidden" name="csrf_token" value="${csrfToken}">
<p><button type="submit">Log out</button></p>
</form>`
    : `<p>Nobody is logged in.</p>
<p><a href="${base}${settings.loginPath}">Log in</a></p>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Notes</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}${settings.oauthPrefix}/style.css">
</head>
<body>
<main>
<h1>Notes</h1>
${content}
</main>
</body>
</html>
`
}
