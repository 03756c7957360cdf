import { html, type PageSession } from 'svc-oauth2server'
import type { Links } from './links.ts'
import { shell } from './shell.ts'

/** Renders the response to a request for an unknown path. */
export const notFoundPage = ({
  links,
  session,
}: {
  readonly links: Links
  readonly session: Pick<PageSession, 'user' | 'csrfToken'>
}): Promise<string> =>
  shell({
    title: 'Not found',
    links,
    session,
    content: html`<h1>Not found</h1>
<p>There is no page at this address.</p>
<p class="actions"><a class="button" href="${links.home}">Start page</a></p>`,
  })
