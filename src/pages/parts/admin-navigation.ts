import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'

/** A page of the administration. */
export type AdminPlace = 'applications' | 'users' | 'activity'

/** Renders links between the pages of the administration. `isBelow` is true on a page below one of these pages. */
export const adminNavigation = (place: AdminPlace, frame: Frame, isBelow = false): Html => {
  const { links, texts } = frame
  const entry = (name: AdminPlace, href: string, label: string): Html => {
    const current = name === place ? html` aria-current="${isBelow ? 'true' : 'page'}"` : ''
    return html`<li><a href="${href}"${current}>${label}</a></li>`
  }
  return html`<nav class="tabs" aria-label="${texts.admin.title}">
<ul>
${entry('applications', links.admin, `${texts.admin.clients}, ${texts.admin.tokens}`)}
${entry('users', links.adminUsers, texts.users.title)}
${entry('activity', links.adminActivity, texts.activity.title)}
</ul>
</nav>`
}
