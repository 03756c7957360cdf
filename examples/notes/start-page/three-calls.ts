import { type Html, html } from 'svc-oauth2server'
import type { Answer } from './call.ts'
import type { Links } from './links.ts'

/** The data of the three calls. */
export interface ThreeCalls {
  readonly links: Links
  readonly csrfToken: string
  readonly isLoggedIn: boolean
  /** The URL of the call. */
  readonly url: string
  /** The response to the call with a personal token; undefined until the user creates a token on the start page. */
  readonly personal: Answer | undefined
  /** The response to the call of the sample application; undefined until the user allows the application. */
  readonly application: Answer | undefined
  readonly hasSample: boolean
}

/** Renders one call of the REST API with three different credentials, and the response to each of them. */
export const threeCalls = (calls: ThreeCalls): Html => html`<section aria-labelledby="calls">
<div class="title">
<h2 id="calls">One call, three credentials</h2>
${calls.isLoggedIn ? html`<a class="button quiet" href="${calls.links.home}">Call again</a>` : ''}
</div>
<p class="about">Three callers request <code>GET ${calls.url}</code>. The route has the same guards for each of them, and answers with the notes of the user for whom they act.</p>
<div class="calls">
${bySession(calls)}
${byPersonalToken(calls)}
${calls.hasSample ? byApplication(calls) : ''}
</div>
</section>`

const bySession = ({ url, isLoggedIn }: ThreeCalls): Html => html`<article class="card">
<h3>Your session</h3>
<p>A script of this page calls. Its request carries the cookie of your session and a JWT from this page.</p>
<pre><code>fetch('${new URL(url).pathname}')</code></pre>
${
  isLoggedIn
    ? html`<div data-call="${url}" aria-live="polite"><p class="hint">The script of this page sends the call. Without JavaScript, nothing is sent.</p></div>`
    : html`<p class="hint">Log in to send it.</p>`
}
</article>`

const byPersonalToken = ({
  url,
  links,
  personal,
  csrfToken,
  isLoggedIn,
}: ThreeCalls): Html => html`<article class="card">
<h3>A personal token</h3>
<p>One of your own programs calls, such as a shell script. Its token may only read notes.</p>
<pre><code>curl -H 'Authorization: Bearer …' ${url}</code></pre>
${personal ? answer(personal) : ''}
${
  isLoggedIn
    ? html`<form method="post" action="${links.personalToken}">
<input type="hidden" name="csrf_token" value="${csrfToken}">
<p><button type="submit"${personal ? html` class="quiet"` : ''}>${personal ? 'Use another token' : 'Create a token and call'}</button></p>
</form>`
    : html`<p class="hint">Log in to create one.</p>`
}
</article>`

const byApplication = ({ url, links, application }: ThreeCalls): Html => html`<article class="card">
<h3>An application</h3>
<p>After you have allowed it, a site of a third party calls for you. The site does not learn your password.</p>
<pre><code>GET ${url}
Authorization: Bearer …</code></pre>
${application ? answer(application) : ''}
<p><a class="button${application ? ' quiet' : ''}" href="${links.startSample}">${application ? 'Run it again' : 'Run the sample application'}</a></p>
</article>`

/** Renders the answer to a call. */
export const answer = ({
  status,
  text,
}: Answer): Html => html`<p class="status"><span class="badge ${status < 400 ? 'good' : 'bad'}">${status}</span> ${status < 400 ? 'Answered just now' : 'Refused just now'}</p>
<pre class="answer" tabindex="0" role="group" aria-label="Answer"><code>${text}</code></pre>`
