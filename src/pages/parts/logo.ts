import { type Html, html } from '../html.ts'

/**
 * Renders the logo of a client; nothing without a logo. The text alternative is empty, because the name of the client
 * follows.
 */
export const logo = (src: string | null): Html =>
  src === null ? html`` : html`<img class="logo" src="${src}" alt="" width="32" height="32">`
