import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'

/** Renders a value to which the script adds a copy button. */
export const copyable = (id: string, value: string, { texts }: Frame): Html =>
  html`<span class="copyable"><code id="${id}" data-copy="${texts.frame.copy}" data-copied="${texts.frame.copied}" dir="ltr">${value}</code></span>`

/** Renders a command to which the script adds a copy button. */
export const command = (id: string, value: string, { texts }: Frame): Html =>
  html`<div class="copyable"><pre id="${id}" data-copy="${texts.frame.copy}" data-copied="${texts.frame.copied}" dir="ltr"><code>${value}</code></pre></div>`
