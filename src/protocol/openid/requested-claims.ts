import { OAuthError } from '../../model/oauth-error.ts'
import type { Parameters } from '../../model/parameters.ts'

// OpenID Connect Core §5.5: the parameter `claims`

/** The conditions of a requested claim. OpenID Connect Core §5.5.1. */
export interface RequestedClaim {
  readonly essential: boolean
  /** The accepted values; empty if every value is accepted. */
  readonly values: readonly unknown[]
}

/** The claims that a request names, for the userinfo response and for the ID token. */
export interface RequestedClaims {
  readonly userinfo: Readonly<Record<string, RequestedClaim>>
  readonly id_token: Readonly<Record<string, RequestedClaim>>
}

/** The maximum number of characters of the parameter. */
const maxLength = 4_096

const refused = (sentence: string): OAuthError => new OAuthError('invalid_request', sentence)

/** Returns the requested claims; undefined without the parameter. @throws OAuthError `invalid_request` */
export const requestedClaims = (params: Parameters): RequestedClaims | undefined => {
  const text = params.opaque('claims')
  if (text === undefined) return undefined
  if (text.length > maxLength) throw refused(`claims is longer than ${maxLength} characters.`)
  const document = parsed(text)
  return { userinfo: membersOf(document, 'userinfo'), id_token: membersOf(document, 'id_token') }
}

const parsed = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // The error for invalid JSON is the same as for a JSON value that is not an object.
  }
  throw refused('claims must be a JSON object.')
}

const membersOf = (
  document: Readonly<Record<string, unknown>>,
  place: keyof RequestedClaims,
): RequestedClaims['userinfo'] => {
  const members = Object.hasOwn(document, place) ? document[place] : undefined
  if (members === undefined || members === null) return {}
  if (!isObject(members)) throw refused(`claims: ${place} must be a JSON object.`)
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, requestOf(name, value)]),
  )
}

const requestOf = (name: string, value: unknown): RequestedClaim => {
  if (value === null) return { essential: false, values: [] }
  if (!isObject(value)) throw refused(`claims: ${name} must be null or a JSON object.`)
  const { essential, value: only, values } = value
  return {
    essential: essential === true,
    values: [...(only === undefined ? [] : [only]), ...(Array.isArray(values) ? values : [])],
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
