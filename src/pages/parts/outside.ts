import type { Frame } from '../frame.ts'
import { filled, type Html, html } from '../html.ts'

/** A link to an address that somebody else chose. */
export const websiteLink = (website: string): Html => {
  // As the network writes it, so that look-alike letters show as what they are.
  const href = URL.canParse(website) ? new URL(website).href : website
  return html`<a href="${href}" rel="noopener noreferrer nofollow"><bdi>${href}</bdi></a>`
}

/** What the maker of an application says about it: set apart, so that nobody takes it for our words. */
export const description = (name: string, words: string, { texts }: Frame): Html =>
  words === ''
    ? html``
    : html`<figure class="description">
<figcaption>${filled(texts.facts.words, html`<bdi>${name}</bdi>`)}</figcaption>
<blockquote${isLong(words) ? html` tabindex="0"` : ''}><bdi>${words}</bdi></blockquote>
</figure>`

// Then it scrolls, and those without a mouse have to reach it.
const isLong = (words: string): boolean => words.length > 120 || words.split('\n').length > 4
