import type { Scope } from '../../model/scope.ts'
import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { ClientFormValues } from '../models/client.ts'
import { type EditedField, sorted } from './edit-form.ts'
import type { FormProblem } from './forms.ts'
import { described, hintOf, invalid, problemOf, problemsOf, textField } from './forms.ts'
import { kindField } from './kind-field.ts'
import { logoutFields } from './logout-fields.ts'
import { redirectUrisField } from './redirect-uris-field.ts'
import { scopeChoices } from './scopes.ts'

/** The content of a client's form. */
interface ClientForm {
  readonly values: ClientFormValues
  readonly scopes: readonly Scope[]
  readonly problem: FormProblem | undefined
}

/** Maps the name of each form field to its label. */
export const clientLabels = ({
  texts: { admin, client },
}: Frame): Readonly<Record<string, string>> => ({
  name: client.name,
  description: client.description,
  website: client.website,
  logo_uri: admin.logo,
  redirect_uris: client.redirectUris,
  application_type: client.kindLegend,
  is_confidential: client.type,
  default_scopes: client.defaultScopes,
  optional_scopes: client.optionalScopes,
  post_logout_redirect_uris: client.postLogoutRedirectUris,
  backchannel_logout_uri: client.backchannelLogoutUri,
})

/** Returns the fields of a client's form, each with a function that returns its text, to compare two versions. */
export const editedFields = (frame: Frame): readonly EditedField<ClientFormValues>[] => {
  const { facts } = frame.texts
  const texts: Readonly<Record<string, (values: ClientFormValues) => string>> = {
    name: ({ name }) => name,
    description: ({ description }) => description.replaceAll('\r', '').trim(),
    website: ({ website }) => website,
    logo_uri: ({ logoUri }) => logoUri,
    redirect_uris: ({ redirectUris }) => redirectUris.replaceAll('\r', '').trim(),
    is_confidential: ({ isConfidential }) => (isConfidential ? facts.confidential : facts.public),
    default_scopes: ({ defaultScopes }) => sorted(defaultScopes),
    optional_scopes: ({ optionalScopes }) => sorted(optionalScopes),
    post_logout_redirect_uris: ({ logout }) =>
      (logout?.redirectUris ?? '').replaceAll('\r', '').trim(),
    backchannel_logout_uri: ({ logout }) => (logout?.backchannelUri ?? '').trim(),
  }
  const labels = clientLabels(frame)
  return Object.entries(texts).map(([name, text]) => ({ name, label: labels[name] ?? name, text }))
}

/** Renders the fields of a new or existing client. */
export const clientFields = ({ values, scopes, problem }: ClientForm, frame: Frame): Html => {
  const { client: texts } = frame.texts
  const aboutWords = { name: 'description', hint: texts.descriptionHint, problem }
  return html`${textField({
    name: 'name',
    label: texts.name,
    hint: texts.nameHint,
    value: values.name,
    attributes: html` required autocomplete="off"`,
    problem,
  })}
<div class="field">
<label for="description">${texts.description}</label>
${hintOf(aboutWords)}
<textarea id="description" name="description" rows="3" dir="auto"${described(aboutWords)}${invalid(aboutWords)}>
${values.description}</textarea>
${problemOf(aboutWords)}
</div>
${textField({
  name: 'website',
  label: texts.website,
  hint: texts.websiteHint,
  value: values.website,
  attributes: html` type="url" dir="ltr" autocomplete="off"`,
  problem,
})}
${textField({
  name: 'logo_uri',
  label: frame.texts.admin.logo,
  hint: texts.logoHint,
  value: values.logoUri,
  attributes: html` type="url" dir="ltr" autocomplete="off"`,
  problem,
})}
${values.kind === undefined ? '' : kindField(values.kind, problem, frame)}
${redirectUrisField(values.redirectUris, problem, frame)}
${values.kind === undefined ? typeField(values.isConfidential, problem, frame) : ''}
${scopes.length === 0 ? '' : scopeFields({ values, scopes, problem }, frame)}
${values.logout === undefined ? '' : logoutFields(values.logout, problem, frame)}`
}

const typeField = (
  isConfidential: boolean,
  problem: FormProblem | undefined,
  frame: Frame,
): Html => {
  const { client: texts, facts } = frame.texts
  const control = { name: 'is_confidential', problem }
  const choice = (value: boolean, label: string, hint: string): Html =>
    html`<label class="choice"><input type="radio" name="is_confidential" value="${String(value)}"${value === isConfidential ? html` checked` : ''}${value ? html` id="is_confidential"${invalid(control)}` : ''}>
<span><strong>${label}</strong> <small>${hint}</small></span></label>`
  return html`<fieldset${described(control)}>
<legend>${texts.type}</legend>
${problemOf(control)}
${choice(true, facts.confidential, texts.confidentialHint)}
${choice(false, facts.public, texts.publicHint)}
</fieldset>`
}

const scopeFields = ({ values, scopes, problem }: ClientForm, frame: Frame): Html => {
  const { client: texts } = frame.texts
  const isOpen =
    values.optionalScopes.length > 0 || problemsOf(problem, 'optional_scopes').length > 0
  const choices = {
    name: 'optional_scopes',
    legend: texts.optionalScopes,
    hint: texts.optionalScopesHint,
    ticked: values.optionalScopes,
    scopes,
    problem,
  }
  return html`${scopeChoices(
    {
      name: 'default_scopes',
      legend: texts.defaultScopes,
      hint: texts.defaultScopesHint,
      ticked: values.defaultScopes,
      scopes,
      problem,
    },
    frame,
  )}
<details${isOpen ? html` open` : ''}>
<summary>${texts.optionalScopes}</summary>
${scopeChoices(choices, frame)}
</details>`
}
