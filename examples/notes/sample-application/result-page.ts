import { html, type PageSession } from 'svc-oauth2server'
import type { Answer } from '../start-page/call.ts'
import type { Links } from '../start-page/links.ts'
import { shell } from '../start-page/shell.ts'
import { answer } from '../start-page/three-calls.ts'
import type { Tokens } from './flow.ts'

interface Result {
  readonly links: Links
  readonly session: Pick<PageSession, 'user' | 'csrfToken'>
}

const title = 'Sample application'

/** Renders the steps of a finished flow. */
export const finishedPage = ({
  links,
  session,
  url,
  granted,
  answer: received,
}: Result & {
  readonly url: string
  readonly granted: Tokens
  readonly answer: Answer
}): Promise<string> => {
  const { access_token: token, expires_in: expiresIn, scope, user } = granted
  const response = { access_token: masked(token), expires_in: expiresIn, scope, user }
  return shell({
    title,
    links,
    session,
    content: html`<h1>${title}</h1>
<p class="about">You allowed this application to act for you. These steps happened:</p>
<ol class="card steps">
<li>It sent your browser to <code>/oauth/authorize</code> with a PKCE challenge. The challenge is the digest of a secret that only the application knows.</li>
<li>You decided on the consent page. Your browser came back with a code, which works once and for a minute.</li>
<li>The application sent the code and its secret to <code>/oauth/token</code>, and received a token:
<pre><code>${JSON.stringify(response, null, 2)}</code></pre></li>
<li>It called <code>GET ${url}</code> with this token:
${answer(received)}</li>
</ol>
<p class="actions">
<a class="button" href="${links.home}#calls">Compare with the other callers</a>
<a class="button quiet" href="${links.applications}">See or revoke its permissions</a>
</p>`,
  })
}

/** Renders the reason of a failed flow, for instance that the user refused. */
export const failedPage = ({
  links,
  session,
  reason,
}: Result & { readonly reason: string }): Promise<string> =>
  shell({
    title,
    links,
    session,
    content: html`<h1>${title}</h1>
<p class="notice" role="alert">The application received no token. ${reason}</p>
<p class="actions">
<a class="button" href="${links.startSample}">Try again</a>
<a class="button quiet" href="${links.home}">Start page</a>
</p>`,
  })

const masked = (token: string): string => `…${token.slice(-4)}`
