import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'

/** A value to be copied; the script of the pages adds a button for that. */
export const copyable = (id: string, value: string, { texts }: Frame): Html =>
  html`<span class="copyable"><code id="${id}" data-copy="${texts.frame.copy}" data-copied="${texts.frame.copied}" dir="ltr">${value}</code></span>`

/** A command to be copied. */
export const command = (id: string, value: string, { texts }: Frame): Html =>
  html`<div class="copyable"><pre id="${id}" data-copy="${texts.frame.copy}" data-copied="${texts.frame.copied}" dir="ltr"><code>${value}</code></pre></div>`
