import { z } from 'zod'
import type { Client, TokenEndpointAuthMethod } from './client.ts'
import { InvalidField } from './invalid-field.ts'
import { OAuthError } from './oauth-error.ts'
import { parseScope, ScopeDoesNotExists } from './scope.ts'

/*
 * Client metadata (RFC 7591 §2), as a client describes itself at the registration endpoint or in a document at its
 * address, and the fields of a client that it becomes here. Nothing of it is fetched, and nothing of it is proven.
 */

const longestText = 255
const longestAddress = 2_000
const mostContacts = 10
/** Characters that the name of a client may have; see `validName`. */
const longestName = 40

const isPlain = (text: string): boolean => text.isWellFormed() && !/\p{Cc}/u.test(text)

// Where a browser may be led: https, and nobody's name or password in it.
const isHttps = (address: string): boolean => {
  if (!/^https:\/\/[\x21-\x7E]+$/i.test(address) || /["<>\\^`{|}]/.test(address)) return false
  if (!URL.canParse(address)) return false
  const { username, password } = new URL(address)
  return username === '' && password === ''
}

const text = z.string().max(longestText).refine(isPlain)
const texts = z.array(text)
const link = z.string().max(longestAddress).refine(isHttps)

const member = <S extends z.ZodType>(schema: S, accepts: string) => ({ schema, accepts })

/** Every member that is understood: what it may be, also in words. */
const members = {
  redirect_uris: member(z.array(z.string()), 'an array of addresses'),
  token_endpoint_auth_method: member(text, 'a string'),
  grant_types: member(texts, 'an array of strings'),
  response_types: member(texts, 'an array of strings'),
  client_name: member(z.string().refine(isPlain), 'a string without control characters'),
  client_uri: member(link, 'an https address'),
  logo_uri: member(link, 'an https address'),
  scope: member(z.string().refine(isPlain), 'a string of scopes with spaces between them'),
  contacts: member(texts.max(mostContacts), `an array of at most ${mostContacts} strings`),
  tos_uri: member(link, 'an https address'),
  policy_uri: member(link, 'an https address'),
  jwks_uri: member(z.string().max(longestAddress).refine(isPlain), 'an address'),
  jwks: member(z.looseObject({ keys: z.array(z.looseObject({})) }), 'a JSON Web Key Set'),
  software_id: member(text, 'a string'),
  software_version: member(text, 'a string'),
  dpop_bound_access_tokens: member(z.boolean(), 'true or false'),
  require_pushed_authorization_requests: member(z.boolean(), 'true or false'),
} as const

type Members = typeof members
type MemberName = keyof Members

const names = Object.keys(members) as MemberName[]

/** What a client says of itself, under the names that it has on the wire. RFC 7591 §2, RFC 9126 §6, RFC 9449 §5.2. */
export type ClientMetadata = {
  readonly [N in MemberName]?: z.output<Members[N]['schema']> | undefined
}

/** Members that give the client nothing: they are shown, or bind the client itself. */
const kept = [
  'logo_uri',
  'contacts',
  'tos_uri',
  'policy_uri',
  'software_id',
  'software_version',
  'dpop_bound_access_tokens',
  'require_pushed_authorization_requests',
] as const satisfies readonly MemberName[]

const refused = (sentence: string): OAuthError =>
  new OAuthError('invalid_client_metadata', sentence)

const refusedUri = (sentence: string): OAuthError =>
  new OAuthError('invalid_redirect_uri', sentence)

/**
 * Reads client metadata out of parsed JSON. What is unknown here is left out, such as `client_id` and whatever would be a
 * privilege; what is null or empty is absent (RFC 7592 §2.2).
 * @throws OAuthError `invalid_redirect_uri` or `invalid_client_metadata`, which names the member
 */
export const parseClientMetadata = (value: unknown): ClientMetadata => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refused('The client metadata must be a JSON object.')
  const given = new Map<string, unknown>(Object.entries(value))
  // Software statements of all issuers are refused, since none is trusted (RFC 7591 §2.3).
  if ((given.get('software_statement') ?? '') !== '') {
    throw new OAuthError(
      'unapproved_software_statement',
      'Software statements are not accepted: register without one.',
    )
  }
  const metadata: Record<string, unknown> = {}
  for (const name of names) {
    const said = given.get(name)
    if (said === undefined || said === null || said === '') continue
    const { schema, accepts } = members[name]
    const result = schema.safeParse(said)
    if (!result.success)
      throw (name === 'redirect_uris' ? refusedUri : refused)(`${name} must be ${accepts}.`)
    metadata[name] = result.data
  }
  return metadata
}

/** What a client that describes itself may be here. */
export interface MetadataRules {
  /** Grant types that it may have; `implicit` goes with the response type `token`. */
  readonly grantTypes: readonly string[]
  readonly authMethods: readonly TokenEndpointAuthMethod[]
  readonly scopes: readonly string[]
  /** What it is called where it does not say. */
  readonly nameless: string
}

/** A client as its metadata describes it: the input of `clients.create`, and what else is kept. */
export interface DescribedClient {
  readonly input: {
    readonly name: string
    readonly website: string
    readonly isConfidential: boolean
    readonly redirectUris: readonly string[]
    readonly allowedScopes: readonly string[] | null
    readonly grantTypes: readonly string[]
    readonly responseTypes: readonly string[]
    /** Null where it does not say: by its secret, either way. */
    readonly tokenEndpointAuthMethod: TokenEndpointAuthMethod | null
    readonly jwks: string | null
    readonly jwksUri: string | null
  }
  /** JSON for the field of that name. */
  readonly metadata: string
}

/**
 * The client that metadata describes, within the rules. What is left out takes the default of RFC 7591 §2. Grant types
 * that are not offered are left out where others remain: the answer says what was registered (§3.2.1).
 * @throws OAuthError `invalid_redirect_uri` or `invalid_client_metadata`
 */
export const describedClient = (
  metadata: ClientMetadata,
  rules: MetadataRules,
): DescribedClient => {
  const method = authMethodOf(metadata, rules)
  const { grantTypes, responseTypes } = typesOf(metadata, rules)
  if (method === 'none' && grantTypes.includes('client_credentials'))
    throw refused('client_credentials is for clients that authenticate.')
  const said = kept.flatMap((name) =>
    metadata[name] === undefined ? [] : [[name, metadata[name]]],
  )
  return {
    input: {
      name: shortened(metadata.client_name ?? '') || shortened(rules.nameless),
      website: metadata.client_uri ?? '',
      isConfidential: method !== 'none',
      redirectUris: redirectUrisOf(metadata, responseTypes),
      allowedScopes: scopesOf(metadata, rules),
      // The core knows the implicit grant by its response type alone.
      grantTypes: grantTypes.filter((type) => type !== 'implicit'),
      responseTypes,
      tokenEndpointAuthMethod: metadata.token_endpoint_auth_method === undefined ? null : method,
      // Whether they are enough, and public ones, is checked with the record.
      jwks: metadata.jwks ? JSON.stringify(metadata.jwks) : null,
      jwksUri: metadata.jwks_uri ?? null,
    },
    metadata: JSON.stringify(Object.fromEntries(said)),
  }
}

const authMethodOf = (
  { token_endpoint_auth_method: given = 'client_secret_basic' }: ClientMetadata,
  { authMethods }: MetadataRules,
): TokenEndpointAuthMethod => {
  const method = authMethods.find((known) => known === given)
  if (method) return method
  throw refused(`token_endpoint_auth_method must be one of ${authMethods.join(', ')}.`)
}

/** The grant type of each response type. RFC 7591 §2.1. */
const grantTypeOf: Readonly<Record<string, string>> = {
  code: 'authorization_code',
  token: 'implicit',
}

/** Refused, and not left out: a client that asks for one of them would be another without it. */
const notLeftOut = ['password', 'implicit', 'client_credentials']

const typesOf = (
  { grant_types: grants, response_types: responses }: ClientMetadata,
  rules: MetadataRules,
): { readonly grantTypes: readonly string[]; readonly responseTypes: readonly string[] } => {
  // Where one of the two is not said, it is what belongs to the other.
  const implied = responses?.flatMap((type) => grantTypeOf[type] ?? [])
  const asked = [...new Set(grants ?? implied ?? ['authorization_code'])]
  for (const type of notLeftOut) {
    if (asked.includes(type) && !rules.grantTypes.includes(type))
      throw refused(`grant_types: ${type} is not available to this client.`)
  }
  const grantTypes = asked.filter((type) => rules.grantTypes.includes(type))
  if (grantTypes.length === 0)
    throw refused(`grant_types must contain one of ${rules.grantTypes.join(', ')}.`)
  const responseTypes = Object.keys(grantTypeOf).filter((type) =>
    grantTypes.includes(grantTypeOf[type] ?? ''),
  )
  const isConsistent =
    responses === undefined ||
    (responseTypes.every((type) => responses.includes(type)) &&
      responses.every((type) => responseTypes.includes(type)))
  if (isConsistent) return { grantTypes, responseTypes }
  throw refused(
    'grant_types and response_types do not go together: authorization_code goes with code, implicit with token.',
  )
}

const redirectUrisOf = (
  { redirect_uris: uris = [] }: ClientMetadata,
  responseTypes: readonly string[],
): readonly string[] => {
  if (responseTypes.length > 0 && uris.length === 0) throw refusedUri('redirect_uris is missing.')
  // They are kept as they are, or not at all.
  if (uris.some((uri) => uri === '' || uri !== uri.trim()))
    throw refusedUri('redirect_uris contains an empty address, or one with blanks around it.')
  return [...new Set(uris)]
}

const unknownScope = 'scope contains one that does not exist.'

/** The most that the client may ask for; null: whatever anybody may. */
const scopesOf = ({ scope }: ClientMetadata, rules: MetadataRules): readonly string[] | null => {
  if (scope === undefined) return null
  const scopes = listedScopes(scope)
  if (scopes?.every((id) => rules.scopes.includes(id))) return scopes
  throw refused(unknownScope)
}

const listedScopes = (scope: string): readonly string[] | undefined => {
  try {
    return parseScope(scope)
  } catch (error) {
    if (error instanceof OAuthError) return undefined
    throw error
  }
}

// A user who logs in cannot shorten the name of a client, so a name that is too long is cut, and the answer says so.
const shortened = (name: string): string => {
  const letters = [...name.trim()]
  if (letters.length <= longestName) return letters.join('')
  return `${letters
    .slice(0, longestName - 1)
    .join('')
    .trimEnd()}…`
}

/** The metadata of a client as it is registered. RFC 7591 §3.2.1. */
export const clientMetadataOf = (client: Client): ClientMetadata => {
  const { responseTypes } = client
  const implicit = responseTypes?.includes('token') ? ['implicit'] : []
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

/** What a client says of itself beside its fields. */
export const keptMetadata = ({
  metadata,
}: Pick<Client, 'metadata'>): Pick<ClientMetadata, (typeof kept)[number]> => JSON.parse(metadata)

/** Fields that have another name on the wire. */
const wireNames: Readonly<Record<string, string>> = { name: 'client_name', website: 'client_uri' }

/** A field that a record refused, in the words of registration (RFC 7591 §3.2.2); any other error as it is. */
export const asMetadataError = (error: unknown): unknown => {
  if (error instanceof ScopeDoesNotExists) return refused(unknownScope)
  if (!(error instanceof InvalidField)) return error
  const { field, message, detail } = error
  if (field !== 'redirect_uris') return refused(`${wireNames[field] ?? field}: ${message}`)
  const place = detail.line === undefined ? '' : `, number ${detail.line}`
  return refusedUri(`redirect_uris${place}: ${message.replace(/^Line \d+: /, '')}`)
}
