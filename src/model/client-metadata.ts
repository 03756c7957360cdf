import { z } from 'zod'
import type { Client } from './client.ts'
import type { ClientFields, TokenEndpointAuthMethod } from './entities/client.ts'
import { InvalidField } from './invalid-field.ts'
import { OAuthError } from './oauth-error.ts'
import { openidMemberNames, openidMembers } from './openid-client-metadata.ts'
import {
  hasSchemeOfApplication,
  type RedirectUriRules,
  redirectUriProblem,
} from './redirect-uri.ts'
import {
  grantTypesOf,
  responseTypes as knownResponseTypes,
  needImplicit,
  responseTypeNamed,
  returnsIdToken,
} from './response-type.ts'
import type { Schema } from './schema.ts'
import { offlineAccess } from './scope.ts'
import { maxUris } from './uri-list.ts'

/*
 * Parses client metadata (RFC 7591 §2), with which a client describes itself at the registration endpoint or in a
 * metadata document. This module checks only the format of URLs, and does not fetch them.
 */

const maxTextLength = 255
const maxAddressLength = 2_000
const maxContacts = 10
/** The maximum number of items of any other list of texts. */
const maxTexts = 100
/** The maximum number of characters of a client's name; see `validName`. */
const maxNameLength = 40

const isPlain = (text: string): boolean => text.isWellFormed() && !/\p{Cc}/u.test(text)

// Browsers follow these links, so accept only https without a user name or password.
const isHttps = (address: string): boolean => {
  if (!/^https:\/\/[\x21-\x7E]+$/i.test(address) || /["<>\\^`{|}]/.test(address)) return false
  if (!URL.canParse(address)) return false
  const { username, password } = new URL(address)
  return username === '' && password === ''
}

const text = z.string().max(maxTextLength).refine(isPlain)
const texts = z.array(text).max(maxTexts)
const link = z.string().max(maxAddressLength).refine(isHttps)

const member = <Output>(schema: Schema<unknown, Output>, accepts: string) => ({ schema, accepts })

/**
 * The members that only link to a page or image. Pages show only https links, so an http link is omitted from the
 * registration instead of refusing the client (RFC 7591 §2, §3.2.1).
 */
const links: readonly string[] = ['client_uri', 'logo_uri', 'tos_uri', 'policy_uri']

const isHttpLink = (name: string, value: unknown): boolean =>
  links.includes(name) && typeof value === 'string' && /^http:/i.test(value)

// An empty list would permit nothing, so it counts as absent.
const isEmptyLimit = (name: string, value: unknown): boolean =>
  (name === 'grant_types' || name === 'response_types') &&
  Array.isArray(value) &&
  value.length === 0

/** The schema of every supported member, and a description for error messages. */
const members = {
  redirect_uris: member(z.array(z.string()), 'an array of URIs'),
  token_endpoint_auth_method: member(text, 'a string'),
  token_endpoint_auth_methods_supported: member(texts, `an array of strings, at most ${maxTexts}`),
  grant_types: member(texts, `an array of strings, at most ${maxTexts}`),
  response_types: member(texts, `an array of strings, at most ${maxTexts}`),
  client_name: member(z.string().refine(isPlain), 'a string without control characters'),
  client_uri: member(link, 'an https URL'),
  logo_uri: member(link, 'an https URL'),
  scope: member(z.string().refine(isPlain), 'a string of scopes with spaces between them'),
  contacts: member(texts.max(maxContacts), `an array of at most ${maxContacts} strings`),
  tos_uri: member(link, 'an https URL'),
  policy_uri: member(link, 'an https URL'),
  jwks_uri: member(z.string().max(maxAddressLength).refine(isPlain), 'a URL'),
  jwks: member(z.looseObject({ keys: z.array(z.looseObject({})) }), 'a JSON Web Key Set'),
  software_id: member(text, 'a string'),
  software_version: member(text, 'a string'),
  dpop_bound_access_tokens: member(z.boolean(), 'true or false'),
  require_pushed_authorization_requests: member(z.boolean(), 'true or false'),
  ...openidMembers,
} as const

/** The schema of each member of the client metadata. */
type Members = typeof members
/** The name of a member of the client metadata (RFC 7591 §2). */
type MemberName = keyof Members

const names = Object.keys(members) as MemberName[]

/** The metadata that a client sends about itself. RFC 7591 §2, RFC 9126 §6, RFC 9449 §5.2. */
export type ClientMetadata = {
  readonly [N in MemberName]?: Members[N]['schema']['_zod']['output'] | undefined
}

/** Members that only describe or restrict the client. No permission depends on these members. */
const storedMembers = [
  'logo_uri',
  'contacts',
  'tos_uri',
  'policy_uri',
  'software_id',
  'software_version',
  'dpop_bound_access_tokens',
  'require_pushed_authorization_requests',
  ...openidMemberNames,
] as const satisfies readonly MemberName[]

const metadataError = (sentence: string): OAuthError =>
  new OAuthError('invalid_client_metadata', sentence)

const redirectUriError = (sentence: string): OAuthError =>
  new OAuthError('invalid_redirect_uri', sentence)

/**
 * Reads client metadata from parsed JSON. Ignores unknown members, such as `client_id`, and treats null and empty
 * values as absent (RFC 7592 §2.2).
 * @throws OAuthError `invalid_redirect_uri` or `invalid_client_metadata`, with the name of the member;
 * `unapproved_software_statement`
 */
export const parseClientMetadata = (value: unknown): ClientMetadata => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw metadataError('The client metadata must be a JSON object.')
  const received = new Map<string, unknown>(Object.entries(value))
  // The server trusts no issuer of software statements, so refuse every statement (RFC 7591 §2.3).
  if ((received.get('software_statement') ?? '') !== '') {
    throw new OAuthError(
      'unapproved_software_statement',
      'Software statements are not accepted: register without one.',
    )
  }
  const metadata: Record<string, unknown> = {}
  for (const name of names) {
    const value = received.get(name)
    if (value === undefined || value === null || value === '') continue
    if (isHttpLink(name, value) || isEmptyLimit(name, value)) continue
    const { schema, accepts } = members[name]
    const result = schema.safeParse(value)
    if (!result.success)
      throw (name === 'redirect_uris' ? redirectUriError : metadataError)(
        `${name} must be ${accepts}.`,
      )
    metadata[name] = result.data
  }
  return metadata
}

/** The values that a client may register for itself. */
export interface MetadataRules {
  /** The permitted grant types, with `implicit` if a permitted response type needs it. */
  readonly grantTypes: readonly string[]
  readonly responseTypes: readonly string[]
  /**
   * Grant types that need no consent of a user. If a client requests one of these types, but the type is not permitted,
   * the metadata is refused. The client could not work without this type.
   */
  readonly grantTypesWithoutConsent: readonly string[]
  /** Grant types that only confidential clients may use. */
  readonly grantTypesOfClients: readonly string[]
  readonly authMethods: readonly TokenEndpointAuthMethod[]
  readonly scopes: readonly string[]
  /** The name for a client whose metadata contains no name. */
  readonly defaultName: string
  /** Whether public clients may use private-use redirect URIs. */
  readonly privateUse: boolean
}

/** The result of validating metadata: the input of `clients.create`, and the remaining metadata. */
export interface DescribedClient {
  /**
   * `tokenEndpointAuthMethod` is null if the metadata names no method and `client_secret_basic` is permitted. The client
   * may then send its secret in the header or in the form.
   */
  readonly input: Pick<
    ClientFields,
    | 'name'
    | 'website'
    | 'isConfidential'
    | 'redirectUris'
    | 'allowedScopes'
    | 'tokenEndpointAuthMethod'
    | 'jwks'
    | 'jwksUri'
  > & { readonly grantTypes: readonly string[]; readonly responseTypes: readonly string[] }
  /** The remaining metadata as JSON, for the field `metadata` of the client. */
  readonly metadata: string
}

/**
 * Returns the client that metadata describes, within the rules. Absent members have the defaults of RFC 7591 §2.
 * Removes unknown scopes. Also removes grant types that are not permitted (§3.2.1), if a permitted type remains.
 * @throws OAuthError `invalid_redirect_uri` or `invalid_client_metadata`, for instance for `implicit` or a type of
 * `grantTypesWithoutConsent` that is not permitted
 */
export const describedClient = (
  metadata: ClientMetadata,
  rules: MetadataRules,
): DescribedClient => {
  const method = authMethodOf(metadata, rules)
  const { grantTypes, responseTypes } = typesOf(metadata, rules)
  const confidential = grantTypes.find((type) => rules.grantTypesOfClients.includes(type))
  if (method === 'none' && confidential !== undefined)
    throw metadataError(`${confidential} requires a client that authenticates.`)
  const entries = storedMembers.flatMap((name) =>
    metadata[name] === undefined ? [] : [[name, metadata[name]]],
  )
  return {
    input: {
      name: truncated(metadata.client_name ?? '') || truncated(rules.defaultName),
      website: metadata.client_uri ?? '',
      isConfidential: method !== 'none',
      redirectUris: redirectUrisOf(metadata, responseTypes, {
        privateUse: rules.privateUse && method === 'none',
      }),
      allowedScopes: scopesOf(metadata, rules),
      // The client record stores the implicit grant only as response types.
      grantTypes: grantTypes.filter((type) => type !== 'implicit'),
      responseTypes,
      tokenEndpointAuthMethod: isDefaultMethod(metadata, method) ? null : method,
      // The client record validates the keys.
      jwks: metadata.jwks ? JSON.stringify(metadata.jwks) : null,
      jwksUri: metadata.jwks_uri ?? null,
    },
    metadata: JSON.stringify(Object.fromEntries(entries)),
  }
}

/** Returns the requested method if it is permitted, or else the first permitted method that the client supports. */
const authMethodOf = (
  {
    token_endpoint_auth_method: requested = 'client_secret_basic',
    token_endpoint_auth_methods_supported: alternatives = [],
  }: ClientMetadata,
  { authMethods }: MetadataRules,
): TokenEndpointAuthMethod => {
  const [method] = [requested, ...alternatives].flatMap(
    (candidate) => authMethods.find((permitted) => permitted === candidate) ?? [],
  )
  if (method) return method
  throw metadataError(`token_endpoint_auth_method must be one of ${authMethods.join(', ')}.`)
}

const isDefaultMethod = (
  { token_endpoint_auth_method: requested }: ClientMetadata,
  method: TokenEndpointAuthMethod,
): boolean => requested === undefined && method === 'client_secret_basic'

const typesOf = (
  { grant_types: grants, response_types: responses }: ClientMetadata,
  rules: MetadataRules,
): { readonly grantTypes: readonly string[]; readonly responseTypes: readonly string[] } => {
  // Derive `grant_types` from `response_types` if only the latter is present.
  const named = responses?.map((type) => responseTypeNamed(type) ?? type)
  const implied = named?.flatMap(grantTypesOf)
  const requested = [...new Set(grants ?? implied ?? ['authorization_code'])]
  for (const type of [...rules.grantTypesWithoutConsent, 'implicit']) {
    if (requested.includes(type) && !rules.grantTypes.includes(type))
      throw metadataError(`grant_types: ${type} is not available to this client.`)
  }
  const grantTypes = requested.filter((type) => rules.grantTypes.includes(type))
  if (grantTypes.length === 0)
    throw metadataError(`grant_types must contain one of ${rules.grantTypes.join(', ')}.`)
  const available = knownResponseTypes.filter((type) => rules.responseTypes.includes(type))
  if (named && !isWithin(named, available))
    throw metadataError(`response_types may contain only ${available.join(', ') || 'no value'}.`)
  // If `response_types` is absent, select the response types without ID token that the grant types permit.
  const responseTypes = available.filter((type) =>
    named
      ? named.includes(type)
      : !returnsIdToken(type) && isWithin(grantTypesOf(type), grantTypes),
  )
  const needed = responseTypes.flatMap(grantTypesOf)
  const isConsistent = ['authorization_code', 'implicit'].every(
    (type) => grantTypes.includes(type) === needed.includes(type),
  )
  if (isConsistent) return { grantTypes, responseTypes }
  throw metadataError(
    'grant_types and response_types do not match: authorization_code requires a response type with code, and implicit requires one with token or id_token.',
  )
}

const isWithin = (types: readonly string[], all: readonly string[]): boolean =>
  types.every((type) => all.includes(type))

const redirectUrisOf = (
  { redirect_uris: uris = [] }: ClientMetadata,
  responseTypes: readonly string[],
  rules: RedirectUriRules,
): readonly string[] => {
  if (uris.length > maxUris)
    throw redirectUriError(`redirect_uris: There can be at most ${maxUris} redirect URIs.`)
  if (responseTypes.length > 0 && uris.length === 0)
    throw redirectUriError('redirect_uris is missing.')
  // A redirect URI is stored unchanged, so refuse surrounding blanks instead of trimming them.
  if (uris.some((uri) => uri === '' || uri !== uri.trim()))
    throw redirectUriError(
      'redirect_uris contains an empty URI, or a URI with leading or trailing blanks.',
    )
  const unique = [...new Set(uris)]
  const accepted = new Set(unique.filter((uri) => redirectUriProblem(uri, rules) === undefined))
  // A client for many servers may also list URIs with the scheme of an application, such as `cursor://`. Omit these
  // URIs instead of refusing the client, because the client can use the other URIs (RFC 7591 §3.2.1).
  return accepted.size === 0
    ? unique
    : unique.filter((uri) => accepted.has(uri) || !hasSchemeOfApplication(uri))
}

/**
 * Removes the member `scope` if the server knows none of its scopes. Some clients, for instance Claude, send the same
 * scopes to every server. A client that is limited to unknown scopes could request no scope at all.
 */
export const withoutForeignScopes = (
  { scope, ...metadata }: ClientMetadata,
  known: readonly string[],
): ClientMetadata =>
  scope?.split(' ').some((id) => known.includes(id)) ? { ...metadata, scope } : metadata

/**
 * Returns the scopes to which the client is limited; null without a limit. Removes scopes that do not exist, because a
 * client may list scopes of other servers. The response contains the remaining scopes (RFC 7591 §2, §3.2.1).
 */
const scopesOf = ({ scope }: ClientMetadata, rules: MetadataRules): readonly string[] | null => {
  const listed = (scope ?? '').split(' ').filter((id) => id !== '')
  const ignored = rules.scopes.includes(offlineAccess) ? '' : offlineAccess
  if (listed.every((id) => id === ignored)) return null
  return rules.scopes.filter((id) => listed.includes(id))
}

// Truncate a long name instead of refusing it, because the user who logs in cannot correct the name.
const truncated = (name: string): string => {
  const letters = [...name.trim()]
  if (letters.length <= maxNameLength) return letters.join('')
  return `${letters
    .slice(0, maxNameLength - 1)
    .join('')
    .trimEnd()}…`
}

/** Returns the registered metadata of a client. RFC 7591 §3.2.1. */
export const clientMetadataOf = (client: Client): ClientMetadata => {
  const { responseTypes } = client
  const implicit = needImplicit(responseTypes ?? []) ? ['implicit'] : []
  return {
    redirect_uris: [...client.redirectUris],
    token_endpoint_auth_method:
      client.tokenEndpointAuthMethod ?? (client.isConfidential ? 'client_secret_basic' : 'none'),
    grant_types: [...(client.grantTypes ?? client.allowedGrantTypes), ...implicit],
    response_types: [...(responseTypes ?? client.allowedResponseTypes)],
    client_name: client.name,
    client_uri: client.website || undefined,
    scope: client.allowedScopes === null ? undefined : client.scopeCeiling.join(' '),
    jwks: client.jwks === null ? undefined : JSON.parse(client.jwks),
    jwks_uri: client.jwksUri ?? undefined,
    ...keptMetadata(client),
  }
}

/** Returns the metadata for which the client record has no separate field. */
export const keptMetadata = ({
  metadata,
}: Pick<ClientFields, 'metadata'>): Pick<ClientMetadata, (typeof storedMembers)[number]> =>
  JSON.parse(metadata)

/** Returns the stored metadata that owners edit, with the default values. */
export const editedMetadata = (client: Pick<ClientFields, 'metadata'>) => {
  const {
    logo_uri = '',
    post_logout_redirect_uris = [],
    backchannel_logout_uri = '',
  } = keptMetadata(client)
  return { logo_uri, post_logout_redirect_uris, backchannel_logout_uri }
}

/**
 * Returns the metadata with the URL of a logo; an empty text removes the URL.
 * @throws InvalidField
 */
export const withLogoUri = (metadata: string, given: string): string => {
  const address = given.trim()
  if (address !== '' && !link.safeParse(address).success)
    throw new InvalidField('logo_uri', 'The logo must be a URL that starts with https://.', {
      problem: 'websiteInvalid',
    })
  return JSON.stringify({ ...JSON.parse(metadata), logo_uri: address || undefined })
}

/** The metadata names of the fields `name` and `website`. */
const wireNames: Readonly<Record<string, string>> = { name: 'client_name', website: 'client_uri' }

/** Converts a validation error to a registration error (RFC 7591 §3.2.2). Returns any other error unchanged. */
export const asMetadataError = (error: unknown): unknown => {
  if (!(error instanceof InvalidField)) return error
  const { field, message, detail } = error
  if (field !== 'redirect_uris') return metadataError(`${wireNames[field] ?? field}: ${message}`)
  const place = detail.line === undefined ? '' : `, number ${detail.line}`
  return redirectUriError(`redirect_uris${place}: ${message.replace(/^Line \d+: /, '')}`)
}
