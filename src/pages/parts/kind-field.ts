import { type ApplicationKind, applicationKinds } from '../../model/application-kind.ts'
import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { type Control, described, invalid, problemOf } from './forms.ts'

/** Renders the choice of the kind of a new application. */
export const kindField = (
  chosen: ApplicationKind,
  problem: Control['problem'],
  frame: Frame,
): Html => {
  const { client: texts } = frame.texts
  const control = { name: 'application_type', problem }
  const choice = (kind: ApplicationKind, index: number): Html =>
    html`<label class="choice"><input type="radio" name="application_type" value="${kind}"${kind === chosen ? html` checked` : ''}${index === 0 ? html` id="application_type"${invalid(control)}` : ''}>
<span><strong>${texts.kinds[kind].name}</strong> <small>${texts.kinds[kind].about}</small></span></label>`
  return html`<fieldset${described(control)}>
<legend>${texts.kindLegend}</legend>
${problemOf(control)}
${applicationKinds.map(choice)}
</fieldset>`
}
