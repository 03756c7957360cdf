import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'

/**
 * Renders a value to which the script adds a copy button.
 * @param name the name of the value, which the label of the copy button contains for screen readers
 */
export const copyable = (id: string, value: string, frame: Frame, name: string): Html =>
  html`<span class="copyable"><code id="${id}"${copied(frame, name)} dir="ltr">${value}</code></span>`

/** Renders a command or a code example to which the script adds a copy button. */
export const command = (id: string, value: string, frame: Frame, name: string): Html =>
  html`<div class="copyable"><pre id="${id}"${copied(frame, name)} dir="ltr"><code>${value}</code></pre></div>`

const copied = ({ texts }: Frame, name: string): Html =>
  html` data-copy="${texts.frame.copy}" data-copied="${texts.frame.copied}" data-name="${name}"`
