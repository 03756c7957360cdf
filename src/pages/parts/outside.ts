import type { Frame } from '../frame.ts'
import { filled, type Html, html } from '../html.ts'

/** Renders a link to a URL that comes from a client. */
export const websiteLink = (website: string): Html => {
  // Show the normalized URL, in which Punycode reveals look-alike letters.
  const href = URL.canParse(website) ? new URL(website).href : website
  return html`<a href="${href}" rel="noopener noreferrer nofollow"><bdi>${href}</bdi></a>`
}

/** Renders the description that the owner of an application wrote, visually separated from texts of the server. */
export const description = (name: string, words: string, { texts }: Frame): Html =>
  words === ''
    ? html``
    : html`<figure class="description">
<figcaption>${filled(texts.facts.words, html`<bdi>${name}</bdi>`)}</figcaption>
<blockquote${isLong(words) ? html` tabindex="0"` : ''}><bdi>${words}</bdi></blockquote>
</figure>`

// A long description scrolls, so keyboard users must be able to focus it.
const isLong = (words: string): boolean => words.length > 120 || words.split('\n').length > 4
