import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'

/** The navigation entry of the current page. `isBelow` is true on a subpage of the linked page. */
export interface Place {
  readonly entry: 'tokens' | 'clients' | 'authorized' | 'sessions' | 'activity' | 'leaked' | 'admin'
  readonly isBelow?: boolean
}

/** Renders the name of the application, and the navigation for a logged-in user. */
export const header = (
  frame: Frame,
  { navigation, place }: { readonly navigation: boolean; readonly place: Place | undefined },
): Html => {
  const { brand, links } = frame
  return html`<header>
<a class="brand" href="${links.home}">${brand.logo === null ? '' : html`<img src="${brand.logo}" alt="" height="28">`}<bdi>${brand.name}</bdi></a>
${navigation && frame.user ? account(frame, frame.user, place) : ''}
</header>`
}

const account = (
  frame: Frame,
  user: NonNullable<Frame['user']>,
  place: Place | undefined,
): Html => {
  const { links, texts } = frame
  const entry = (name: Place['entry'], href: string): Html => {
    const current = place?.entry === name ? (place.isBelow ? 'true' : 'page') : undefined
    return html`<li><a href="${href}"${current ? html` aria-current="${current}"` : ''}>${texts.frame[name]}</a></li>`
  }
  return html`<nav aria-label="${texts.frame.navigation}">
<ul>
${entry('tokens', links.tokens)}
${entry('clients', links.clients)}
${entry('authorized', links.authorized)}
${links.sessions === null ? '' : entry('sessions', links.sessions)}
${entry('activity', links.activity)}
${entry('leaked', links.leaked)}
${user.isAdmin ? entry('admin', links.admin) : ''}
</ul>
</nav>
<div class="account">
<bdi>${user.email}</bdi>
${links.hostLogout === null ? '' : html`<a href="${links.hostLogout}" class="button quiet">${texts.frame.logout}</a>`}
${links.logout === null ? '' : html`<button type="submit" form="logout" class="quiet">${texts.frame.logout}</button>`}
</div>`
}
