import { builtInScopes } from '../../model/openid-scopes.ts'
import type { Scope, ScopeTexts } from '../../model/scope.ts'
import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { badge, numberText } from './facts.ts'
import { type Control, described, hintOf, invalid, problemOf } from './forms.ts'

/** Returns the texts of a scope in the reader's language. The messages contain the texts of the built-in scopes. */
export const scopeTexts = (
  scope: Scope,
  { reader, texts: { scopes } }: Pick<Frame, 'reader' | 'texts'>,
): Required<ScopeTexts> => {
  const helpText = builtInScopes.includes(scope) ? scopes.helpTexts[scope.id] : undefined
  return helpText === undefined
    ? scope.textsFor(reader.language)
    : { helpText, group: scopes.group }
}

/** Groups scopes by their headings in the reader's language. */
export const byGroup = (
  scopes: readonly Scope[],
  frame: Frame,
): readonly (readonly [heading: string, members: readonly Scope[]])[] => {
  const groups = new Map<string, Scope[]>()
  for (const scope of scopes) {
    const heading = scopeTexts(scope, frame).group || frame.texts.facts.otherGroup
    const members = groups.get(heading)
    if (members) members.push(scope)
    else groups.set(heading, [scope])
  }
  return [...groups]
}

/** Sorts scopes by the harm that a client could do with them, the most harmful scope first. */
export const gravestFirst = (scopes: readonly Scope[]): readonly Scope[] =>
  [...scopes].sort((a, b) => gravity(b) - gravity(a))

const gravity = ({ access, risk }: Scope): number =>
  (risk === 'high' ? 2 : 0) + (access === 'write' ? 1 : 0)

/** Renders the text and the ID of a scope, and words for the kind of access and for a high risk. */
export const scopeText = (scope: Scope, frame: Frame): Html => {
  const { facts } = frame.texts
  const { helpText } = scopeTexts(scope, frame)
  const { access, risk } = scope
  const words = access === 'write' ? html`<strong>${helpText}</strong>` : helpText
  return html`${helpText === '' ? '' : html`${words} `}<code>${scope.id}</code>${access ? html` <span class="mark">${facts[access]}</span>` : ''}${risk ? html` ${badge(facts.highRisk, 'bad')}` : ''}`
}

/** Renders the IDs of scopes without their texts, for lists. */
export const scopeIds = (ids: readonly string[], { texts }: Frame): Html =>
  html`<span class="ids wide">${ids.length === 0 ? texts.facts.noPermissions : ids.map((id) => html`<code>${id}</code> `)}</span>`

/** Renders the ID of the first scope and the number of further scopes, for a row that is too narrow for all IDs. */
export const scopesInShort = (ids: readonly string[], frame: Frame): Html => {
  const { facts } = frame.texts
  const [first, ...others] = ids
  if (first === undefined) return html`<span class="scopes">${facts.noPermissions}</span>`
  const more =
    others.length === 0 ? '' : html` <bdi dir="ltr">+${numberText(frame, others.length)}</bdi>`
  return html`<span class="scopes" title="${facts.permissions}: ${ids.join(' ')}"><code>${first}</code>${more}</span>`
}

/** Renders the texts of scopes, in groups. */
export const scopeList = (scopes: readonly Scope[], frame: Frame): Html =>
  html`${byGroup(scopes, frame).map(
    ([heading, members]) => html`<section class="group">
<h3>${heading}</h3>
<ul>
${members.map((scope) => html`<li>${scopeText(scope, frame)}</li>`)}
</ul>
</section>`,
  )}`

/** Renders a checkbox for each scope. */
export const scopeChoices = (
  control: Control & {
    readonly legend: string
    readonly scopes: readonly Scope[]
    readonly ticked: readonly string[]
  },
  frame: Frame,
): Html => {
  const { name, legend, scopes, ticked } = control
  const box = (scope: Scope): Html => html`<label class="choice">
<input type="checkbox" name="${name}" value="${scope.id}"${scope === scopes[0] ? html` id="${name}"${invalid(control)}` : ''}${ticked.includes(scope.id) ? html` checked` : ''}>
<span>${scopeText(scope, frame)}</span>
</label>`
  return html`<fieldset${described(control)}>
<legend>${legend}</legend>
${hintOf(control)}
${problemOf(control)}
${byGroup(scopes, frame).map(
  ([heading, members]) => html`<fieldset class="group">
<legend>${heading}</legend>
${members.map(box)}
</fieldset>`,
)}
</fieldset>`
}
