import { z } from 'zod'
import { type ApplicationKind, applicationKinds } from '../../model/application-kind.ts'
import type { Scope } from '../../model/scope.ts'
import type { FormProblem } from '../form-problem.ts'
import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { Messages } from '../messages/en.ts'
import { problemsOf } from '../parts/forms.ts'
import { formFlag, formList, formName, formText } from '../shapes/form-fields.ts'
import { area, choice, formOf, line, scopes, uriLines, url, type ValuesOf } from './form.ts'

const fields = {
  name: line({
    shape: formName,
    label: ({ client }) => client.name,
    hint: ({ client }) => client.nameHint,
    attributes: html` required autocomplete="off"`,
  }),
  description: area({
    option: 'The description, shown to users.',
    label: ({ client }) => client.description,
    hint: ({ client }) => client.descriptionHint,
  }),
  website: url({
    option: 'The website, shown to users.',
    shape: formText.optional().describe('Empty, or a URL that starts with https://.'),
    label: ({ client }) => client.website,
    hint: ({ client }) => client.websiteHint,
  }),
  logo_uri: url({
    option: 'The https URL of the logo, shown to users after the client is verified.',
    shape: formText
      .optional()
      .describe(
        'Empty, or the https URL of a logo. The pages show the image after an administrator has verified the client.',
      ),
    label: ({ admin }) => admin.logo,
    hint: ({ client }) => client.logoHint,
  }),
  redirect_uris: uriLines({
    shape: formList
      .optional()
      .describe('A list, or a text with one URI per line. The first URI is the default.'),
    label: ({ client }) => client.redirectUris,
    hint: ({ client }) => client.redirectUrisHint,
  }),
  is_confidential: choice({
    shape: formFlag
      .optional()
      .describe('False for an application that cannot keep a secret. The default is true.'),
    label: ({ client }) => client.type,
    values: [
      {
        value: true,
        name: ({ facts }) => facts.confidential,
        hint: ({ client }) => client.confidentialHint,
      },
      { value: false, name: ({ facts }) => facts.public, hint: ({ client }) => client.publicHint },
    ],
    typed: (params, name) => params.repeated(name)[0] !== 'false',
  }),
  default_scopes: scopes({
    label: ({ client }) => client.defaultScopes,
    hint: ({ client }) => client.defaultScopesHint,
  }),
  optional_scopes: scopes({
    label: ({ client }) => client.optionalScopes,
    hint: ({ client }) => client.optionalScopesHint,
  }),
  post_logout_redirect_uris: uriLines({
    shape: formList
      .optional()
      .describe('A list, or a text with one URI per line, to which users return after a logout.'),
    label: ({ client }) => client.postLogoutRedirectUris,
    hint: ({ client }) => client.postLogoutRedirectUrisHint,
  }),
  backchannel_logout_uri: url({
    shape: formText
      .optional()
      .describe('Empty, or the https URL that receives a logout token when a login ends.'),
    label: ({ client }) => client.backchannelLogoutUri,
    hint: ({ client }) => client.backchannelLogoutUriHint,
  }),
}

/** The fields of a client that its owner edits. */
export const clientForm = formOf(fields)
export type ClientValues = ValuesOf<typeof fields>

/** The names of the fields that only a server with OpenID Connect has. */
export const logoutFields = ['post_logout_redirect_uris', 'backchannel_logout_uri'] as const

/** The kind of a new client, which determines its grants and whether it is confidential. */
const kind = {
  application_type: choice<ApplicationKind | undefined>({
    shape: z
      .enum(applicationKinds)
      .optional()
      .describe('Sets the grants of the client, and its type if `is_confidential` is omitted.'),
    label: ({ client }) => client.kindLegend,
    values: applicationKinds.map((value) => ({
      value,
      name: ({ client }: Messages) => client.kinds[value].name,
      hint: ({ client }: Messages) => client.kinds[value].about,
    })),
    // A form may contain `is_confidential` instead.
    typed: (params, name): ApplicationKind | undefined =>
      params.repeated('is_confidential').length > 0
        ? undefined
        : applicationKinds.find((known) => known === params.repeated(name)[0]),
  }),
}

/** The fields of a new client. The page shows the kind, or the choice between confidential and public. */
export const newClientForm = formOf({ ...fields, ...kind })
export type NewClientValues = ValuesOf<typeof fields & typeof kind>

export const newClient = z.looseObject(newClientForm.shapes)

export const clientChange = z
  .looseObject({
    ...clientForm.shapes,
    name: formName.optional(),
    delete: formText.optional().describe('`yes` deletes the client.'),
    confirm_name: formText.optional().describe('The name of the client, to confirm its deletion.'),
  })
  .describe('An omitted field is not changed, including an omitted list in a form.')

interface ShownForm {
  /** The scopes that the user can choose. */
  readonly choices: readonly Scope[]
  /** Whether the server has OpenID Connect. */
  readonly hasLogout: boolean
}

/** Renders the fields of an existing client. */
export const clientFields = (
  { values, choices, hasLogout }: ShownForm & { readonly values: ClientValues },
  frame: Frame,
): Html => {
  const { problem } = frame.outcome
  const controls = clientForm.controls({ values, scopes: choices, problem }, frame)
  return arranged(
    { choices, hasLogout, controls, values, problem, kind: '', type: controls.is_confidential },
    frame,
  )
}

/** Renders the fields of a new client. */
export const newClientFields = (
  { values, choices, hasLogout }: ShownForm & { readonly values: NewClientValues },
  frame: Frame,
): Html => {
  const { problem } = frame.outcome
  const controls = newClientForm.controls({ values, scopes: choices, problem }, frame)
  const hasKind = values.application_type !== undefined
  const kind = hasKind ? controls.application_type : ''
  const type = hasKind ? '' : controls.is_confidential
  return arranged({ choices, hasLogout, controls, values, problem, kind, type }, frame)
}

const arranged = (
  {
    controls,
    values,
    problem,
    choices,
    hasLogout,
    kind,
    type,
  }: ShownForm & {
    readonly controls: Readonly<Record<keyof ClientValues, Html>>
    readonly values: ClientValues
    readonly problem: FormProblem | undefined
    readonly kind: Html | string
    readonly type: Html | string
  },
  { texts: { client: texts } }: Frame,
): Html => {
  // A group is initially open if one of its fields has a value or a problem.
  const group = (title: string, names: readonly (keyof ClientValues)[]): Html => {
    const isOpen = names.some(
      (name) => String(values[name]).trim() !== '' || problemsOf(problem, name).length > 0,
    )
    return html`<details${isOpen ? html` open` : ''}>
<summary>${title}</summary>
${names.map((name) => controls[name])}
</details>`
  }
  return html`${controls.name}
${controls.description}
${controls.website}
${controls.logo_uri}
${kind}
${controls.redirect_uris}
${type}
${choices.length === 0 ? '' : html`${controls.default_scopes}${group(texts.optionalScopes, ['optional_scopes'])}`}
${hasLogout ? group(texts.logoutFields, logoutFields) : ''}`
}
