import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

export type Html = HtmlEscapedString | Promise<HtmlEscapedString>

/** The addresses that every page needs. */
export interface PageBase {
  readonly stylesheet: string
  readonly home: string
}

/** The frame of every page. `html` escapes whatever is put into it, so nothing from outside is markup. */
export const layout = (
  { stylesheet }: PageBase,
  title: string,
  content: Html,
): Html => html`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="stylesheet" href="${stylesheet}">
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`

/** What went wrong with a form, above it. */
export const notice = (problem: string | undefined): Html =>
  problem === undefined ? html`` : html`<p class="notice" role="alert">${problem}</p>`
