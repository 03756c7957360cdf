import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import type { Messages } from '../messages/en.ts'
import type { RefusedRedirectDetails } from '../models/refused-redirect.ts'
import { facts } from '../parts/facts.ts'
import { refusedRedirect } from '../parts/refused-redirect.ts'

/** The view of the page for OAuth errors. The page shows the parameters of its URL as text. */
export interface ErrorView {
  readonly error: string
  readonly description: string
  /** Whether the request has expired or was already used, which is not an error of the application. */
  readonly isExpired?: boolean
  /** The details of a request that the owner of the application or an administrator sent; undefined for other users. */
  readonly refused?: RefusedRedirectDetails | undefined
}

/** The page for OAuth errors that the server must not send to an application. The page never redirects. */
export const errorPage: PageTemplate<ErrorView> = (view, frame) => {
  const { error, description, isExpired = false, refused } = view
  const { error: texts } = frame.texts
  const { what, advice } = isKnown(error, texts.known) ? texts.known[error] : texts.unknown
  const sentences = isExpired ? texts.expired : { what, advice }
  const isNothing = error === '' && description === ''
  return layout(
    frame,
    texts.title,
    html`<div class="card">
<h1>${texts.title}</h1>
<p>${sentences.what}</p>
<p>${isNothing ? texts.again : sentences.advice}</p>
${
  isNothing
    ? ''
    : facts([
        error === '' ? undefined : [texts.code, html`<code>${error}</code>`],
        description === '' ? undefined : [texts.details, html`<bdi>${description}</bdi>`],
      ])
}
${refused ? refusedRedirect(refused, frame) : ''}
<p><a href="${frame.links.home}">${texts.home}</a></p>
</div>`,
    { narrow: true },
  )
}

type Known = Messages['error']['known']

const isKnown = (error: string, known: Known): error is keyof Known & string =>
  Object.hasOwn(known, error)
