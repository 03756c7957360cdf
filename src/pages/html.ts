import { html as tag, raw as trusted } from 'hono/html'

/** Markup: made by `html`, which escapes whatever is put into it, or vouched for with `raw`. */
export type Html = Markup | Promise<Markup>

type Markup = string & { readonly isEscaped: true }

/**
 * Markup in which every value is escaped; a value that is `Html` itself, or a list of it, is put in as it is.
 *
 * @example
 * html`<h1>${view.client.name}</h1>`
 */
export const html = (strings: TemplateStringsArray, ...values: readonly unknown[]): Html =>
  tag(strings, ...values)

/** Vouches for text as markup: for a page that a template engine wrote, which has done the escaping. */
export const raw = (markup: string): Html => trusted(markup)

// No text of ours and no name contains it.
const place = '\u0000'

/** A text with an element where its argument stands, in whatever order a language puts them. */
export const filled = (text: (value: string) => string, element: Html): Html => {
  const [before = '', ...after] = text(place).split(place)
  return html`${before}${element}${after.join('')}`
}
