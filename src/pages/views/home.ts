import type { PageTemplate } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'

/** The view of the start page, which needs only the frame. */
export type HomeView = Readonly<Record<never, never>>

/** The start page of a standalone server. */
export const homePage: PageTemplate<HomeView> = (_view, frame) => {
  const { brand, links, texts, user } = frame
  const { home } = texts
  const way = (href: string, title: string, about: string): Html =>
    html`<li><a href="${href}">${title}</a><p>${about}</p></li>`
  const content = user
    ? html`<p>${home.user} <strong><bdi>${user.email}</bdi></strong></p>
<ul class="ways">
${way(links.applications, home.applications, home.aboutApplications)}
${links.sessions === null ? '' : way(links.sessions, home.sessions, home.aboutSessions)}
${user.isAdmin ? way(links.admin, home.admin, home.aboutAdmin) : ''}
</ul>`
    : html`<p>${home.nobody}</p>
<p class="actions"><a class="button" href="${links.login}">${home.login}</a></p>`
  return layout(
    frame,
    user ? home.title : home.login,
    html`<div class="card">
<h1><bdi>${brand.name}</bdi></h1>
${content}
</div>`,
    { narrow: true },
  )
}
