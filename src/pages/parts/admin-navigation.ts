import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'

/** A page of the administration. */
export type AdminPlace = 'applications' | 'tokens' | 'users' | 'activity' | 'leaked'

interface Entry {
  readonly place: AdminPlace
  readonly href: string
  readonly title: string
  readonly about: string
}

/** Returns the pages of the administration, with a sentence about each of them. */
export const adminEntries = ({ links, texts }: Frame): readonly Entry[] => {
  const { admin, users, activity, leaked } = texts
  return [
    {
      place: 'applications',
      href: links.adminApplications,
      title: admin.clients,
      about: admin.clientsAbout,
    },
    { place: 'tokens', href: links.adminTokens, title: admin.tokens, about: admin.tokensAbout },
    { place: 'users', href: links.adminUsers, title: users.title, about: users.about },
    {
      place: 'activity',
      href: links.adminActivity,
      title: activity.title,
      about: admin.activityAbout,
    },
    { place: 'leaked', href: links.leaked, title: leaked.title, about: leaked.aboutAdmin },
  ]
}

/** Renders links between the pages of the administration. `isBelow` is true on a subpage of `place`. */
export const adminNavigation = (place: AdminPlace, frame: Frame, isBelow = false): Html => {
  const link = ({ place: name, href, title }: Entry): Html => {
    const current = name === place ? html` aria-current="${isBelow ? 'true' : 'page'}"` : ''
    return html`<li><a href="${href}"${current}>${title}</a></li>`
  }
  return html`<nav class="tabs" aria-label="${frame.texts.admin.title}">
<ul>
${adminEntries(frame).map(link)}
</ul>
</nav>`
}
