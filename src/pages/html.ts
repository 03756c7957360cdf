import { html as tag, raw as trusted } from 'hono/html'

/** Markup from `html`, which escapes values, or from `raw`, which escapes nothing. */
export type Html = Markup | Promise<Markup>

/** The result of `html` or `raw`. A template inserts this value without escaping it again. */
type Markup = string & { readonly isEscaped: true }

/**
 * Creates markup and escapes every value, except values that are `Html` or lists of `Html`.
 *
 * @example
 * html`<h1>${view.client.name}</h1>`
 */
export const html = (strings: TemplateStringsArray, ...values: readonly unknown[]): Html =>
  tag(strings, ...values)

/**
 * Marks text as markup without escaping it, for instance the output of a template engine that has escaped all values.
 */
export const raw = (markup: string): Html => trusted(markup)

// Messages and names do not contain this character.
const placeholder = '\u0000'

/** Returns a message as markup. The element replaces the argument of the message. */
export const filled = (text: (value: string) => string, element: Html): Html => {
  const [before = '', ...after] = text(placeholder).split(placeholder)
  return html`${before}${element}${after.join('')}`
}
