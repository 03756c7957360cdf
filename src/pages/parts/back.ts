import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'

/** The way back to the list that a page belongs to. */
export const back = (href: string, { texts }: Frame): Html =>
  html`<p class="back"><a href="${href}">${texts.frame.applications}</a></p>`
