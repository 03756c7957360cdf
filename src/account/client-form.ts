import { z } from 'zod'
import { rulesOfKind } from '../model/application-kind.ts'
import type { Client } from '../model/client.ts'
import { blankClient } from '../model/entities/client.ts'
import { checkAll, InvalidField } from '../model/invalid-field.ts'
import { checkAddresses } from '../model/openid-client-metadata.ts'
import type { Parameters } from '../model/parameters.ts'
import { ScopeDoesNotExists } from '../model/scope.ts'
import { checkedUris } from '../model/uri-list.ts'
import { type clientChange, clientForm, type newClient } from '../pages/forms/client.ts'
import { flagIn, listIn, textIn } from '../protocol/endpoints/forms/form.ts'
import type { Configuration } from '../protocol/server-context.ts'
import { checkedFields } from '../records/clients/checked-fields.ts'
import type { ClientInput } from '../records/clients/client-input.ts'
import type { Settings } from '../settings/settings.ts'
import { checkKind, kindIn } from './application-kind.ts'
import type { SettingsRequest } from './settings-request.ts'

type Rules = Pick<Settings, 'openidConnect'>

const first = (params: Parameters, name: string): string => params.repeated(name)[0] ?? ''

type Fields = Omit<ClientInput, 'userId'>

/**
 * Reads the documented fields of a client's form. A missing list in a form means an empty list, because browsers do not
 * send unticked boxes. A missing list in JSON means no change.
 * @throws InvalidField, InvalidFields for example for an internal scope, because only code may assign internal scopes
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
    // Retain internal scopes, because only code may assign or remove them. Remove scopes that are no longer registered.
    return [...chosen, ...kept.filter((scope) => server.scopes.get(scope)?.isInternal)]
  }
  const redirectUris = params.repeated('redirect_uris')
  const kind = before ? undefined : kindIn(params)
  const texts = defined({
    name: asJson && before ? textIn(params, 'name') : (textIn(params, 'name') ?? ''),
    ...clientForm.inputs((name) => textIn(params, name)),
    redirectUris: redirectUris.length === 0 ? undefined : redirectUris.join('\n'),
    grantTypes: kind && rulesOfKind[kind].grantTypes,
    responseTypes: kind && rulesOfKind[kind].responseTypes,
  })
  const isConfidential = kind
    ? rulesOfKind[kind].isConfidential
    : asJson && before && params.repeated('is_confidential').length === 0
      ? before.isConfidential
      : first(params, 'is_confidential') !== 'false'
  const { logout, choices } = checkAll({
    texts: () => checkedFields(before ?? blankClient, { ...texts, isConfidential }, server.records),
    type: () => (before ? undefined : checkKind(params)),
    flag: () => (kind ? undefined : flagIn(params, 'is_confidential', true)),
    logout: () => logoutIn(params, server.settings),
    choices: () =>
      checkAll({
        defaultScopes: () => scopes('default_scopes', before?.defaultScopes),
        optionalScopes: () => scopes('optional_scopes', before?.optionalScopes),
      }),
  })
  return { ...texts, isConfidential, ...defined(choices), ...(logout && { openid: logout }) }
}

/**
 * Returns the logout URIs of the form; undefined if OpenID Connect is disabled. An empty field removes the stored URIs.
 * @throws InvalidField, InvalidFields
 */
const logoutIn = (
  params: Parameters,
  {
    openidConnect,
    dangerouslyAllowPrivateAddresses: allowPrivate,
  }: Rules & Pick<Settings, 'dangerouslyAllowPrivateAddresses'>,
): Fields['openid'] => {
  if (!openidConnect) return undefined
  const lines = params.repeated('post_logout_redirect_uris')
  const backchannel = textIn(params, 'backchannel_logout_uri')?.trim()
  const { uris } = checkAll({
    uris: () => checkedUris('post_logout_redirect_uris', lines.join('\n'), { privateUse: true }),
    backchannel: () =>
      backchannel && checkAddresses({ backchannel_logout_uri: backchannel }, { allowPrivate }),
  })
  return {
    ...(lines.length > 0 && { post_logout_redirect_uris: uris.length === 0 ? null : uris }),
    ...(backchannel !== undefined && { backchannel_logout_uri: backchannel || null }),
  }
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

/** Returns the form of a client for the OpenAPI document. Without OpenID Connect, the server ignores the logout fields. */
export const shownFields = <Form extends typeof newClient | typeof clientChange>(
  form: Form,
  { settings }: Configuration,
): z.ZodType => {
  const { post_logout_redirect_uris, backchannel_logout_uri, ...others } = form.shape
  return settings.openidConnect ? form : z.looseObject(others).describe(form.description ?? '')
}
