import { z } from 'zod'
import { InvalidField } from './invalid-field.ts'
import { redirectUriProblem } from './redirect-uri.ts'
import { remoteAddressProblem } from './remote-address.ts'
import type { Schema } from './schema.ts'

// The client metadata of OpenID Connect Registration §2, RP-Initiated Logout §3.1 and Back-Channel Logout §2.2. The
// members for request objects also apply without OpenID Connect (RFC 9101).

const maxAddressLength = 2_000
const maxPostLogoutRedirectUris = 50
const maxRequestUris = 50
const maxAlgorithmLength = 20
const maxSeconds = 1_000_000_000

const isAddress = (text: string): boolean =>
  /^https?:\/\/[\x21-\x7E]+$/i.test(text) && !text.includes('#') && URL.canParse(text)

const isHttps = (text: string): boolean => isAddress(text) && /^https:/i.test(text)

const isPostLogoutRedirectUri = (uri: string): boolean =>
  redirectUriProblem(uri, { privateUse: true }) === undefined

const member = <Output>(schema: Schema<unknown, Output>, accepts: string) => ({ schema, accepts })

const algorithm = member(z.enum(['RS256', 'ES256', 'EdDSA']), 'one of RS256, ES256, EdDSA')
const flag = member(z.boolean(), 'true or false')
const address = z.string().max(maxAddressLength)

/** The schema of every supported member, and a description for error messages. */
export const openidMembers = {
  application_type: member(z.enum(['web', 'native']), 'web or native'),
  subject_type: member(z.enum(['public', 'pairwise']), 'public or pairwise'),
  sector_identifier_uri: member(address.refine(isHttps), 'an https URL without a fragment'),
  id_token_signed_response_alg: algorithm,
  userinfo_signed_response_alg: algorithm,
  default_max_age: member(z.int().min(0).max(maxSeconds), 'a number of seconds'),
  require_auth_time: flag,
  post_logout_redirect_uris: member(
    z.array(z.string().refine(isPostLogoutRedirectUri)).max(maxPostLogoutRedirectUris).readonly(),
    `an array of at most ${maxPostLogoutRedirectUris} valid redirect URIs`,
  ),
  backchannel_logout_uri: member(address.refine(isAddress), 'an https URL without a fragment'),
  backchannel_logout_session_required: flag,
  initiate_login_uri: member(address.refine(isHttps), 'an https URL'),
  request_uris: member(
    z.array(address).max(maxRequestUris).readonly(),
    `an array of at most ${maxRequestUris} https URLs`,
  ),
  // This schema only limits the length. `checkRequestObjectAlgorithm` refuses unsupported algorithms.
  request_object_signing_alg: member(z.string().max(maxAlgorithmLength), 'an algorithm'),
  require_signed_request_object: flag,
} as const

/** The members that apply only if the server accepts request objects. */
export const requestObjectMembers = [
  'request_uris',
  'request_object_signing_alg',
  'require_signed_request_object',
] as const

/** The names of the members. */
export const openidMemberNames = Object.keys(openidMembers) as (keyof typeof openidMembers)[]

/** The metadata of OpenID Connect that a client registered, with the names of the standards. */
export type OpenIdClientMetadata = {
  readonly [N in keyof typeof openidMembers]?:
    | (typeof openidMembers)[N]['schema']['_zod']['output']
    | undefined
}

/** The values that a client may register. */
export interface OpenIdMetadataRules {
  /** Whether private networks are allowed in addresses. */
  readonly allowPrivate: boolean
  readonly requestObjectAlgorithms: readonly string[]
}

/**
 * Adds members to the metadata of a client. Null removes a member.
 * @param metadata JSON
 * @throws InvalidField with the name of the member
 */
export const withOpenIdMetadata = (
  metadata: string,
  given: Readonly<Record<string, unknown>>,
  rules: OpenIdMetadataRules,
): string => {
  const merged: Record<string, unknown> = JSON.parse(metadata)
  for (const [name, value] of Object.entries(given)) {
    const known = openidMemberNames.find((one) => one === name)
    if (known === undefined)
      throw new InvalidField(
        name,
        `${name} is not accepted. Accepted: ${openidMemberNames.join(', ')}.`,
      )
    const { schema, accepts } = openidMembers[known]
    const isRemoved = value === null || value === undefined
    const result = isRemoved ? { success: true, data: undefined } : schema.safeParse(value)
    if (!result.success) throw new InvalidField(name, `${name} must be ${accepts}.`)
    merged[name] = result.data
  }
  checkRequestObjectAlgorithm(given, rules)
  checkAddresses(merged, rules)
  return JSON.stringify(merged)
}

/**
 * Checks the registered algorithm of request objects.
 * @throws InvalidField
 */
export const checkRequestObjectAlgorithm = (
  { request_object_signing_alg: algorithm }: Readonly<Record<string, unknown>>,
  { requestObjectAlgorithms: offered }: Pick<OpenIdMetadataRules, 'requestObjectAlgorithms'>,
): void => {
  if (algorithm === undefined || algorithm === null) return
  if (!offered.some((one) => one === algorithm))
    throw new InvalidField('request_object_signing_alg', `It must be one of ${offered.join(', ')}.`)
}

/**
 * Checks the URLs to which the server sends requests.
 * @throws InvalidField
 */
export const checkAddresses = (
  { backchannel_logout_uri, sector_identifier_uri, request_uris = [] }: OpenIdClientMetadata,
  rules: Pick<OpenIdMetadataRules, 'allowPrivate'>,
): void => {
  for (const address of request_uris) {
    const problem = remoteAddressProblem(withoutFragment(address), rules)
    if (problem !== undefined) throw new InvalidField('request_uris', problem)
  }
  for (const [name, address] of Object.entries({ backchannel_logout_uri, sector_identifier_uri })) {
    const problem = address === undefined ? undefined : remoteAddressProblem(address, rules)
    if (problem !== undefined)
      throw new InvalidField(name, problem, { problem: 'logoutUriInvalid' })
  }
}

/**
 * Returns an address without its fragment. A client changes the fragment of a `request_uri` only to announce that the
 * content has changed (OpenID Connect Core §6.2).
 */
export const withoutFragment = (address: string): string => address.replace(/#.*/s, '')
