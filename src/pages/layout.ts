import type { Frame } from './frame.ts'
import { type Html, html } from './html.ts'
import { csrf } from './parts/forms.ts'
import { header, type Place } from './parts/header.ts'

/** Options of the layout. The defaults suit settings pages. */
export interface LayoutOptions {
  /** Whether the page is narrow, for a single task such as logging in. */
  readonly narrow?: boolean
  /**
   * Whether to show the navigation. Default: true. Pages on which a user logs in or gives a consent hide the
   * navigation.
   */
  readonly navigation?: boolean
  /**
   * Whether the page script sends forms only to this server. Default: true. Without this limit, the script submits the
   * form with `data-submit`.
   */
  readonly keepsForms?: boolean
  /** The navigation entry of this page or of its section. */
  readonly place?: Place
}

/** Renders a complete page with the given content. */
export const layout = (
  frame: Frame,
  title: string,
  content: Html,
  { narrow = false, navigation = true, keepsForms = true, place }: LayoutOptions = {},
): Html => {
  const { brand, links, reader, texts } = frame
  return html`<!doctype html>
<html lang="${reader.language}" dir="${reader.direction}" data-locale="${reader.locale}">
<head${keepsForms ? html` data-forms="own"` : ''}>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${frame.isError ? texts.frame.error(title) : title} · ${brand.name}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${links.stylesheet}">
<script src="${links.script}" type="module"></script>
</head>
<body>
<a class="skip" href="#main">${texts.frame.skip}</a>
${header(frame, { navigation, place })}
<main id="main"${narrow ? html` class="narrow"` : ''}>
${content}
${frame.seen === undefined ? '' : html`<img src="${frame.seen}" alt="" hidden>`}
</main>
${navigation && frame.user && links.logout !== null ? logout(frame, links.logout) : ''}
</body>
</html>
`
}

// Place this form after the content, so that the main form is the first form of the page.
const logout = (frame: Frame, action: string): Html =>
  html`<form method="post" action="${action}" id="logout" hidden>${csrf(frame)}</form>`
