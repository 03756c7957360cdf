import type { ClientFields } from './entities/client.ts'
import type { FieldProblem } from './invalid-field.ts'

/** Characters of RFC 3986, and `%` only before two hexadecimal digits. */
const uriCharacters = /^(?:[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/
const https = /^https:\/\/(?:[A-Za-z0-9\-._]+|\[[0-9A-F:.]+\])(?::\d{1,5})?(?:[/?].*)?$/i
const loopback = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::(\d{1,5}))?((?:[/?].*)?)$/i
/** A private-use scheme is a reversed domain name, so it must contain a dot (RFC 8252 §7.1). */
const privateUseUri = /^[A-Za-z][A-Za-z0-9+-]*(?:\.[A-Za-z0-9+-]+)+:\/[^/].*$/
/** The maximum length. The server appends the response to the URI, and some browsers and proxies refuse long URLs. */
const maxUriLength = 2000
/**
 * The parameters of an authorization response on which a client acts (RFC 6749 §4.1.2 and §4.2.2, RFC 9207 §2). A
 * redirect URI must not contain these parameters, because a client that finds a parameter twice may use the registered
 * value. `error_uri`, `expires_in`, `scope` and `token_type` are permitted, because they only describe the result.
 */
const responseParameter = /^(?:code|state|iss|error|error_description|access_token)$/i

export interface RedirectUriRules {
  /** Whether URIs such as `com.example.app:/callback` are allowed. */
  readonly privateUse: boolean
}

/** The reason why a redirect URI is refused. */
export interface RedirectUriProblem {
  readonly problem: FieldProblem
  readonly sentence: string
  readonly value?: number
}

/** Returns the reason to refuse a redirect URI; undefined for an acceptable URI. RFC 9700 §2.1, RFC 8252 §7. */
export const redirectUriProblem = (
  uri: string,
  rules: RedirectUriRules,
): RedirectUriProblem | undefined => {
  if (uri.length > maxUriLength) {
    return {
      problem: 'redirectUriTooLong',
      sentence: `It is longer than ${maxUriLength} characters.`,
      value: maxUriLength,
    }
  }
  if (uri.includes('#')) return problems.fragment
  if (hasResponseParameter(uri)) return problems.responseParameter
  if (!uriCharacters.test(uri)) return problems.character
  if (privateUseUri.test(uri)) return rules.privateUse ? undefined : problems.privateUse
  if (!URL.canParse(uri)) return problems.invalid
  if (https.test(uri) || loopback.test(uri)) return undefined
  return problems.notHttps
}

/** Schemes that no single application owns, because browsers, operating systems or several applications use them. */
const sharedSchemes = /^(?:https?|javascript|data|vbscript|file|blob|about|urn|ws|wss|ftp):/i

/**
 * Returns whether a URI is well-formed and has the scheme of one application. The scheme can contain a dot as in
 * `com.example.app:/cb`, or no dot as in `cursor://cb`. Published clients list URIs of both kinds, but a scheme without
 * a dot cannot be registered.
 */
export const hasSchemeOfApplication = (uri: string): boolean => {
  const problem = redirectUriProblem(uri, { privateUse: true })
  const hasOwnScheme = /^[a-z][a-z0-9+.-]*:\/{1,2}[^/@]+(?:\/[^@]*)?$/i.test(uri)
  return (
    hasOwnScheme &&
    !sharedSchemes.test(uri) &&
    (problem === undefined || problem.problem === 'redirectUriNotHttps')
  )
}

// Compare the names in the form in which clients read them. Clients decode the names. Some clients also treat a
// semicolon as a separator, or remove blanks around a name.
const hasResponseParameter = (uri: string): boolean => {
  const query = uri.includes('?') ? uri.slice(uri.indexOf('?') + 1) : ''
  const names = new URLSearchParams(query.replaceAll(';', '&')).keys()
  return [...names].some((name) => responseParameter.test(name.trim()))
}

const problems = {
  fragment: {
    problem: 'redirectUriFragment',
    sentence: 'It must not contain a fragment (#).',
  },
  responseParameter: {
    problem: 'redirectUriResponseParameter',
    sentence: 'It must not contain a parameter of the response, such as code or state.',
  },
  character: {
    problem: 'redirectUriCharacter',
    sentence: 'It contains a character that is not allowed in a URL.',
  },
  privateUse: {
    problem: 'redirectUriPrivateUse',
    sentence: 'A private-use scheme is not allowed for this client.',
  },
  invalid: { problem: 'redirectUriInvalid', sentence: 'It is not a valid URL.' },
  notHttps: {
    problem: 'redirectUriNotHttps',
    sentence: 'It must use https; http is allowed for localhost, 127.0.0.1 and [::1] only.',
  },
} as const satisfies Record<string, RedirectUriProblem>

/** Trims each entry of a list, or of a text with one redirect URI per line, and removes empty entries. */
export const splitRedirectUris = (value: string | readonly string[]): readonly string[] => [
  ...new Set(
    (typeof value === 'string' ? value.split('\n') : value)
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
]

/**
 * Finds the registered URI that matches the presented URI: the same text, or with `anyLoopbackPort` a loopback URI that
 * differs only in the port (RFC 8252 §7.3).
 */
export const matchRedirectUri = (
  registered: readonly string[],
  presented: string,
  { anyLoopbackPort }: { anyLoopbackPort: boolean },
): string | undefined => {
  if (registered.includes(presented)) return presented
  const requested = anyLoopbackPort ? loopback.exec(presented) : null
  if (!requested || (requested[2] !== undefined && !isPort(requested[2]))) return undefined
  return registered.find((uri) => {
    const candidate = loopback.exec(uri)
    return candidate !== null && candidate[1] === requested[1] && candidate[3] === requested[3]
  })
}

/** The fields of a client that decide about a redirect URI. */
type Redirected = Pick<ClientFields, 'redirectUris' | 'isConfidential' | 'origin'>

/**
 * Finds the redirect URI of a client that matches the presented URI. The port of a loopback URI is free for public
 * clients, and for clients that registered themselves: these are native applications too, even if they received a
 * secret (RFC 8252 §7.3, §8.4).
 */
export const registeredUri = (
  { redirectUris, isConfidential, origin }: Redirected,
  presented: string,
): string | undefined =>
  matchRedirectUri(redirectUris, presented, {
    anyLoopbackPort: !isConfidential || origin !== 'owner',
  })

/** Returns whether a client has registered a redirect URI, by the rules of `registeredUri`. */
export const isRegistered = (redirectUri: string, client: Redirected): boolean =>
  registeredUri(client, redirectUri) !== undefined

const isPort = (text: string): boolean => Number(text) >= 1 && Number(text) <= 65_535

/** Appends parameters to the query, and leaves the rest of the URI exactly as registered (RFC 6749 §4.1.2). */
export const withQuery = (
  uri: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string => {
  const query = encoded(parameters)
  if (query === '') return uri
  if (!uri.includes('?')) return `${uri}?${query}`
  return /[?&]$/.test(uri) ? `${uri}${query}` : `${uri}&${query}`
}

/** Appends parameters in the fragment, for response types that return a token (RFC 6749 §4.2.2). */
export const withFragment = (
  uri: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string => `${uri}#${encoded(parameters)}`

const encoded = (parameters: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(parameters)
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(
      ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`,
    )
    .join('&')
