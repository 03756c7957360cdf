import { addresses } from '../addresses.ts'
import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import { formId } from '../parts/forms.ts'
import { alert } from '../parts/notices.ts'
import type { selected } from '../shapes/applications.ts'
import type { Json } from '../shapes/shape.ts'

/** The view of the page that asks for confirmation before several tokens are deleted or applications are revoked. */
export interface EndSelectedView extends Json<typeof selected> {
  readonly kind: 'tokens' | 'applications'
  /** For each entry, the end of a token or the scopes of an application; may be empty. */
  readonly details: readonly string[]
  /** The query of the list to which the user returns. */
  readonly back: string
}

/** The page on which a user confirms that several tokens are deleted, or that several applications are revoked. */
export const endSelectedPage: PageTemplate<EndSelectedView> = (view, frame) => {
  const { applications, frame: common, list, token } = frame.texts
  const { tokens, authorized } = applications
  const { selected: entries, details, kind, back } = view
  const to = addresses(frame.links)
  const texts =
    kind === 'tokens'
      ? {
          title: tokens.deleteSome(entries.length),
          about: token.deleteSomeAbout,
          submit: tokens.deleteSelected,
          list: to.tokens,
          action: to.selectedTokens,
        }
      : {
          title: authorized.revokeSome(entries.length),
          about: authorized.revokeSomeAbout,
          submit: authorized.revokeSelected,
          list: to.authorized,
          action: to.selectedApplications,
        }
  const cancel = html`<a class="button quiet" href="${texts.list}${back}">${common.cancel}</a>`
  const title = entries.length === 0 ? texts.submit : texts.title
  return layout(
    frame,
    title,
    html`<h1>${title}</h1>
${alert(frame.outcome.problem?.sentence)}
${
  entries.length === 0
    ? html`<p>${list.selectedNone}</p>
<p class="actions">${cancel}</p>`
    : html`<form class="card" method="post" action="${texts.action}">
${formId(frame)}
<input type="hidden" name="back" value="${back}">
<ul>
${entries.map(({ id, name }, index) => html`<li><input type="hidden" name="id" value="${id}"><strong><bdi>${name}</bdi></strong> ${details[index] ? html`<code dir="ltr">${details[index]}</code>` : ''}</li>`)}
</ul>
<p>${texts.about}</p>
<p class="actions">
<button type="submit" class="danger">${texts.submit}</button>
${cancel}
</p>
</form>`
}`,
    { place: { entry: kind === 'tokens' ? 'tokens' : 'authorized', isBelow: true } },
  )
}
