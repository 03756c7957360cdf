import { rulesOfKind } from '../../../model/application-kind.ts'
import type { Client } from '../../../model/client.ts'
import { checkAll, InvalidField } from '../../../model/invalid-field.ts'
import type { Parameters } from '../../../model/parameters.ts'
import { ScopeDoesNotExists } from '../../../model/scope.ts'
import type { ClientFormValues } from '../../../pages/models/client.ts'
import type { ClientInput } from '../../../records/clients/client-input.ts'
import { checkKind, kindIn } from './application-kind.ts'
import { flagIn, listIn, textIn } from './form.ts'
import type { SettingsRequest } from './settings-request.ts'

/** The initial values of the form for a new client. */
export const emptyClient: ClientFormValues = {
  name: '',
  description: '',
  website: '',
  redirectUris: '',
  isConfidential: true,
  kind: 'web',
  defaultScopes: [],
  optionalScopes: [],
}

export const valuesOf = (client: Client): ClientFormValues => ({
  name: client.name,
  description: client.description,
  website: client.website,
  redirectUris: client.redirectUris.join('\n'),
  isConfidential: client.isConfidential,
  defaultScopes: client.defaultScopes,
  optionalScopes: client.optionalScopes,
})

/** Returns the submitted values, which the form shows again. */
export const typedClient = (params: Parameters): ClientFormValues => ({
  name: first(params, 'name'),
  description: first(params, 'description'),
  website: first(params, 'website'),
  redirectUris: params.repeated('redirect_uris').join('\n'),
  isConfidential: first(params, 'is_confidential') !== 'false',
  kind: kindIn(params),
  defaultScopes: listIn(params, 'default_scopes'),
  optionalScopes: listIn(params, 'optional_scopes'),
})

const first = (params: Parameters, name: string): string => params.repeated(name)[0] ?? ''

type Fields = Omit<ClientInput, 'userId'>

/**
 * Reads the documented fields of a client's form. A missing list in a form means an empty list, because browsers do not
 * send unticked boxes. A missing list in JSON means no change.
 * @throws InvalidField, InvalidFields also for an internal scope, because only code may assign internal scopes
 */
export const clientFields = (
  params: Parameters,
  { asJson, server }: SettingsRequest,
  before?: Client,
): Fields => {
  const scopes = (name: string, kept: readonly string[] = []): readonly string[] | undefined => {
    if (asJson && params.repeated(name).length === 0) return undefined
    const chosen = listIn(params, name)
    for (const scope of chosen) {
      if (server.scopes.get(scope)?.isInternal !== false) throw unknown(name, scope)
    }
    // Retain internal scopes, which code assigned and forms do not show. Remove scopes that are no longer registered.
    return [...chosen, ...kept.filter((scope) => server.scopes.get(scope)?.isInternal)]
  }
  const redirectUris = params.repeated('redirect_uris')
  const kind = before ? undefined : kindIn(params)
  const texts = defined({
    name: asJson && before ? textIn(params, 'name') : (textIn(params, 'name') ?? ''),
    description: textIn(params, 'description'),
    website: textIn(params, 'website'),
    redirectUris: redirectUris.length === 0 ? undefined : redirectUris.join('\n'),
    grantTypes: kind && rulesOfKind[kind].grantTypes,
    responseTypes: kind && rulesOfKind[kind].responseTypes,
  })
  const isConfidential = kind
    ? rulesOfKind[kind].isConfidential
    : asJson && before && params.repeated('is_confidential').length === 0
      ? before.isConfidential
      : first(params, 'is_confidential') !== 'false'
  const { choices } = checkAll({
    texts: () => server.clients.check({ ...texts, isConfidential }, before),
    type: () => (before ? undefined : checkKind(params)),
    flag: () => (kind ? undefined : flagIn(params, 'is_confidential', true)),
    choices: () =>
      checkAll({
        defaultScopes: () => scopes('default_scopes', before?.defaultScopes),
        optionalScopes: () => scopes('optional_scopes', before?.optionalScopes),
      }),
  })
  return { ...texts, isConfidential, ...defined(choices) }
}

// Two fields contain scopes, so report which field contains the unknown scope.
const unknown = (field: string, scope: string): InvalidField =>
  new InvalidField(field, new ScopeDoesNotExists(scope).message, {
    problem: 'scopeUnknown',
    value: scope,
  })

const defined = <T extends object>(
  fields: T,
): { readonly [F in keyof T]: Exclude<T[F], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    readonly [F in keyof T]: Exclude<T[F], undefined>
  }
