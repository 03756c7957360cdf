import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import type { EndSelectedView } from '../models/applications.ts'
import { formId } from '../parts/forms.ts'
import { alert } from '../parts/notices.ts'

/** The page on which a user confirms that several tokens are deleted, or that several applications are revoked. */
export const endSelectedPage: PageTemplate<EndSelectedView> = (view, frame) => {
  const { applications, frame: common, list, token } = frame.texts
  const { tokens, authorized } = applications
  const { entries, kind } = view
  const texts =
    kind === 'tokens'
      ? {
          title: tokens.deleteSome(entries.length),
          about: token.deleteSomeAbout,
          submit: tokens.deleteSelected,
        }
      : {
          title: authorized.revokeSome(entries.length),
          about: authorized.revokeSomeAbout,
          submit: authorized.revokeSelected,
        }
  const cancel = html`<a class="button quiet" href="${view.cancel}">${common.cancel}</a>`
  const title = entries.length === 0 ? texts.submit : texts.title
  return layout(
    frame,
    title,
    html`<h1>${title}</h1>
${alert(view.problem?.sentence)}
${
  entries.length === 0
    ? html`<p>${list.selectedNone}</p>
<p class="actions">${cancel}</p>`
    : html`<form class="card" method="post" action="${view.action}">
${formId(frame)}
<input type="hidden" name="back" value="${view.back}">
<ul>
${entries.map(({ id, name, detail }) => html`<li><input type="hidden" name="id" value="${id}"><strong><bdi>${name}</bdi></strong> ${detail === '' ? '' : html`<code dir="ltr">${detail}</code>`}</li>`)}
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
