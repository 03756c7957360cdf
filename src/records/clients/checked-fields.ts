import { requestObjectAlgorithms } from '../../crypto/jose.ts'
import { validJwks, validJwksUri } from '../../model/client-keys.ts'
import { editedMetadata, withLogoUri } from '../../model/client-metadata.ts'
import {
  blankClient,
  type ClientFields,
  clientInput,
  tokenEndpointAuthMethods,
} from '../../model/entities/client.ts'
import { checkAll, InvalidField } from '../../model/invalid-field.ts'
import { withOpenIdMetadata } from '../../model/openid-client-metadata.ts'
import { type ProtectedResource, resourceNamed } from '../../model/protected-resource.ts'
import { responseTypes } from '../../model/response-type.ts'
import { checkedUris } from '../../model/uri-list.ts'
import type { RecordsContext } from '../context.ts'
import { type CheckedFields, type ClientInput, checkClientInput } from './client-input.ts'

/**
 * Applies the input to the former fields, and validates the result.
 * @throws InvalidField, ScopeDoesNotExists
 */
export const checkedFields = (
  before: CheckedFields,
  input: Partial<ClientInput>,
  {
    scopes,
    settings,
    clientContext,
  }: Pick<RecordsContext, 'scopes' | 'settings' | 'clientContext'>,
): CheckedFields => {
  checkClientInput(input)
  const { defaultScopes, optionalScopes, allowedScopes } = input
  const merged = { ...before, ...definedOf(input) }
  const method = merged.tokenEndpointAuthMethod
  limit('token_endpoint_auth_method', method && [method], tokenEndpointAuthMethods)
  if (method !== null && (method === 'none') === merged.isConfidential) {
    throw new InvalidField(
      'token_endpoint_auth_method',
      'A public client must use the method none, and a confidential client must use its secret or its keys.',
    )
  }
  const allowPrivate = settings.dangerouslyAllowPrivateAddresses
  const keys = checkedKeys(merged, { allowPrivate })
  const privateUse = settings.allowPrivateUseRedirectUris && !merged.isConfidential
  const checked = {
    // The caller cannot set the other fields.
    ...withoutKeys(before),
    ...checkAll({
      ...clientInput.checks(merged),
      metadata: () => checkedMetadata(before.metadata, input, settings),
      redirectUris: () => checkedUris('redirect_uris', merged.redirectUris, { privateUse }),
    }),
    // Validate only given scopes, so that a former scope that is no longer registered does not block other changes.
    defaultScopes: defaultScopes ? scopes.validated(defaultScopes) : before.defaultScopes,
    allowedScopes: allowedScopes ? scopes.validated(allowedScopes) : merged.allowedScopes,
    grantTypes: limit('grant_types', merged.grantTypes, clientContext.knownGrantTypes),
    responseTypes: limit('response_types', merged.responseTypes, responseTypes),
    tokenEndpointAuthMethod: method,
    // Validate only a given resource, so that a resource that was removed does not block other changes.
    defaultResource: input.defaultResource
      ? knownResource(input.defaultResource, clientContext.resources)
      : merged.defaultResource,
    optionalScopes: optionalScopes ? scopes.validated(optionalScopes) : before.optionalScopes,
    ...keys,
  }
  checkFormLength(checked)
  return checked
}

// Removes the key, the ID and the secret of a stored client.
const withoutKeys = (before: CheckedFields): CheckedFields =>
  Object.fromEntries(
    Object.keys(blankClient).map((name) => [name, before[name as keyof CheckedFields]]),
  ) as CheckedFields

/**
 * The maximum length of the form of an application after percent-encoding, in which all characters are ASCII. The form
 * has further fields, and a body has at most `bounds.body` bytes.
 */
const maxFormLength = 62_000

// Without this check, code, the command line or JSON could store fields that the page cannot save.
const checkFormLength = (fields: CheckedFields): void => {
  const { logo_uri, post_logout_redirect_uris, backchannel_logout_uri } = editedMetadata(fields)
  const lines = (uris: readonly string[]) => uris.join('\r\n')
  const form = new URLSearchParams({
    name: fields.name,
    description: fields.description.replaceAll('\n', '\r\n'),
    website: fields.website,
    logo_uri,
    redirect_uris: lines(fields.redirectUris),
    post_logout_redirect_uris: lines(post_logout_redirect_uris),
    backchannel_logout_uri,
  })
  for (const scope of fields.defaultScopes) form.append('default_scopes', scope)
  for (const scope of fields.optionalScopes) form.append('optional_scopes', scope)
  if (form.toString().length > maxFormLength)
    throw new InvalidField(
      'redirect_uris',
      `The fields of an application must not be longer than ${maxFormLength} characters after percent-encoding.`,
      { problem: 'applicationTooLong' },
    )
}

const checkedMetadata = (
  before: string,
  { openid, logoUri }: Partial<ClientInput>,
  settings: RecordsContext['settings'],
): string => {
  const rules = {
    allowPrivate: settings.dangerouslyAllowPrivateAddresses,
    requestObjectAlgorithms: requestObjectAlgorithms(settings),
  }
  const metadata = openid ? withOpenIdMetadata(before, openid, rules) : before
  return logoUri === undefined ? metadata : withLogoUri(metadata, logoUri)
}

const checkedKeys = (
  {
    jwks,
    jwksUri,
    tokenEndpointAuthMethod: method,
  }: Pick<CheckedFields, 'jwks' | 'jwksUri' | 'tokenEndpointAuthMethod'>,
  rules: { readonly allowPrivate: boolean },
): Pick<ClientFields, 'jwks' | 'jwksUri'> => {
  if (jwks !== null && jwksUri !== null)
    throw new InvalidField('jwks', 'Set either jwks or jwks_uri, not both.')
  if (method === 'private_key_jwt' && jwks === null && jwksUri === null)
    throw new InvalidField('jwks', 'private_key_jwt needs jwks or jwks_uri.')
  return {
    jwks: jwks === null ? null : validJwks(jwks),
    jwksUri: jwksUri === null ? null : validJwksUri(jwksUri, rules),
  }
}

const knownResource = (identifier: string, known: readonly ProtectedResource[]): string => {
  const found = resourceNamed(known, identifier)
  if (found) return found.resource
  const all = known.map(({ resource }) => resource).join(', ')
  throw new InvalidField(
    'default_resource',
    `${JSON.stringify(identifier)} is not a resource. Resources: ${all}.`,
  )
}

const limit = (
  field: string,
  types: readonly string[] | null,
  known: readonly string[],
): readonly string[] | null => {
  for (const type of types ?? []) {
    if (!known.includes(type))
      throw new InvalidField(
        field,
        `${JSON.stringify(type)} is not accepted. Accepted: ${known.join(', ')}.`,
      )
  }
  return types && [...new Set(types)]
}

/** Returns the object without undefined members. */
export const definedOf = <T extends object>(input: T): T =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as T
