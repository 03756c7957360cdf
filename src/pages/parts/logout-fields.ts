import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { LogoutFormValues } from '../models/client.ts'
import { type FormProblem, problemsOf, textField } from './forms.ts'
import { uriLinesField } from './redirect-uris-field.ts'

/**
 * Renders the fields for the logout of OpenID Connect in an expandable section. The section is initially open if a
 * field has a value or a problem.
 */
export const logoutFields = (
  { redirectUris, backchannelUri }: LogoutFormValues,
  problem: FormProblem | undefined,
  frame: Frame,
): Html => {
  const { client: texts } = frame.texts
  const [uris, backchannel] = ['post_logout_redirect_uris', 'backchannel_logout_uri'] as const
  const isWrong = [uris, backchannel].some((name) => problemsOf(problem, name).length > 0)
  const isOpen = isWrong || `${redirectUris}${backchannelUri}`.trim() !== ''
  return html`<details${isOpen ? html` open` : ''}>
<summary>${texts.logoutFields}</summary>
${uriLinesField(
  {
    name: uris,
    label: texts.postLogoutRedirectUris,
    hint: texts.postLogoutRedirectUrisHint,
    problem,
    typed: redirectUris,
  },
  frame,
)}
${textField({
  name: backchannel,
  label: texts.backchannelLogoutUri,
  hint: texts.backchannelLogoutUriHint,
  value: backchannelUri,
  attributes: html` type="url" dir="ltr" autocomplete="off"`,
  problem,
})}
</details>`
}
