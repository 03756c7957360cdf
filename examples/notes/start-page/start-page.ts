import { type Html, html, type PageSession, raw } from 'svc-oauth2server'
import type { Note } from '../notes.ts'
import { everyPage } from './every-page.ts'
import type { Links } from './links.ts'
import { brand, shell } from './shell.ts'
import { type ThreeCalls, threeCalls } from './three-calls.ts'

/** The content of the start page. */
export interface StartView extends Pick<ThreeCalls, 'personal' | 'application' | 'hasSample'> {
  readonly session: PageSession
  readonly links: Links
  /** The URL of the notes in the REST API. */
  readonly url: string
  readonly notes: readonly Note[]
  /** The e-mail address of the demo user. Undefined if the database has no demo user. */
  readonly demoEmail: string | undefined
  /** The problem of a submitted form. */
  readonly problem?: string
}

/** The number of notes on the start page. */
const maxNotes = 5

/** Renders the start page: the notes of the user, three ways to read them over the API, and links to every page. */
export const startPage = (view: StartView): Promise<string> => {
  const { session, links } = view
  const { user, csrfToken, jwt } = session
  const isLoggedIn = user !== null
  return shell({
    title: brand,
    links,
    session,
    scripts: html`<script src="${links.sessionScript}"></script>
<script src="${links.script}" type="module"></script>`,
    content: html`<h1>${brand}</h1>
<p class="about">A small application with a REST API. Its users, their programs and the applications that they allow all call this API. <em>svc-oauth2server</em> runs inside it and decides who may do what.</p>
${view.problem === undefined ? '' : html`<p class="notice" role="alert">${view.problem}</p>`}
${user ? notesOf(view) : welcome(view)}
${raw(jwt())}
${threeCalls({ ...view, csrfToken, isLoggedIn })}
${everyPage(links, { isLoggedIn, isAdmin: user?.isAdmin === true })}`,
  })
}

const welcome = ({
  links,
  demoEmail,
}: StartView): Html => html`<section class="card" aria-labelledby="welcome">
<h2 id="welcome">Log in to see your notes</h2>
<p>Nobody is logged in.${demoEmail === undefined ? '' : html` The first start created the user <strong>${demoEmail}</strong>, and printed the password in the terminal.`}</p>
<p class="actions"><a class="button" href="${links.login}">Log in</a></p>
</section>`

const notesOf = ({ notes, links, session }: StartView): Html => {
  const shown = notes.slice(-maxNotes).reverse()
  const more = notes.length - shown.length
  return html`<section class="card" aria-labelledby="notes">
<h2 id="notes">Your notes</h2>
<p class="hint">You are logged in as <strong><bdi>${session.user?.email}</bdi></strong>${session.user?.isAdmin ? ', an administrator' : ''}.</p>
${
  notes.length === 0
    ? html`<p>You have no notes yet. Write the first one.</p>`
    : html`<ul class="notes">
${shown.map(({ text, created_at: at }) => html`<li><span dir="auto">${text}</span> <time datetime="${at}">${at.slice(0, 10)}</time></li>`)}
</ul>
${more > 0 ? html`<p class="hint">and ${more} older ${more === 1 ? 'note' : 'notes'}</p>` : ''}`
}
<form class="add" method="post" action="${links.addNote}">
<input type="hidden" name="csrf_token" value="${session.csrfToken}">
<label for="text">New note</label>
<input id="text" name="text" required maxlength="2000" autocomplete="off" dir="auto">
<button type="submit">Add</button>
</form>
</section>`
}
