import { type Html, html } from '../html.ts'

// No text of ours and no name contains it.
const place = '\u0000'

/** A text with an element where its argument stands, in whatever order a language puts them. */
export const filled = (text: (value: string) => string, element: Html): Html => {
  const [before = '', ...after] = text(place).split(place)
  return html`${before}${element}${after.join('')}`
}
