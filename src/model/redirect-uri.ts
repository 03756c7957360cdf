import type { FieldProblem } from './invalid-field.ts'

/** Characters of RFC 3986, and `%` only before two hexadecimal digits. */
const uriCharacters = /^(?:[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/
const https = /^https:\/\/(?:[A-Za-z0-9\-._]+|\[[0-9A-F:.]+\])(?::\d{1,5})?(?:[/?].*)?$/i
const loopback = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::(\d{1,5}))?((?:[/?].*)?)$/i
/** A private-use scheme is a reversed domain name, so it has a dot (RFC 8252 §7.1). */
const privateUse = /^[A-Za-z][A-Za-z0-9+-]*(?:\.[A-Za-z0-9+-]+)+:\/[^/].*$/
const longestUri = 2000
/** Names in a query that an authorization answer gives (RFC 6749 §4.1.2, RFC 9207 §2): twice, nobody knows which counts. */
const responseParameter = /^(?:code|state|iss|error|error_description|access_token)$/i

export interface RedirectUriRules {
  /** Whether `com.example.app:/callback` may be registered: native, public clients only. */
  readonly privateUse: boolean
}

/** A sentence, and its name for pages. */
export interface RedirectUriProblem {
  readonly problem: FieldProblem
  readonly sentence: string
  readonly value?: number
}

/** Why a redirect URI cannot be registered, or undefined where it can. RFC 9700 §2.1, RFC 8252 §7. */
export const redirectUriProblem = (
  uri: string,
  rules: RedirectUriRules,
): RedirectUriProblem | undefined => {
  if (uri.length > longestUri) {
    return {
      problem: 'redirectUriTooLong',
      sentence: `It is longer than ${longestUri} characters.`,
      value: longestUri,
    }
  }
  if (uri.includes('#')) return problems.fragment
  if (hasResponseParameter(uri)) return problems.answerParameter
  if (!uriCharacters.test(uri)) return problems.character
  if (privateUse.test(uri) && !/^https?:/i.test(uri)) {
    return rules.privateUse ? undefined : problems.privateUse
  }
  if (!URL.canParse(uri)) return problems.invalid
  if (https.test(uri) || loopback.test(uri)) return undefined
  return problems.notHttps
}

// By the decoded name, since that is what the client reads; some also split at semicolons and trim.
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
  answerParameter: {
    problem: 'redirectUriAnswerParameter',
    sentence: 'It must not contain a parameter that the answer uses, such as code or state.',
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

/** The entries of a text with one redirect URI a line, trimmed; a list is taken as it is, trimmed. */
export const splitRedirectUris = (value: string | readonly string[]): readonly string[] =>
  (typeof value === 'string' ? value.split('\n') : value)
    .map((line) => line.trim())
    .filter((line) => line !== '')

/**
 * The registered URI that a presented one matches: by comparison of the strings, except that the port
 * of a public client's loopback address may differ (RFC 8252 §7.3).
 */
export const matchRedirectUri = (
  registered: readonly string[],
  presented: string,
  { anyLoopbackPort }: { anyLoopbackPort: boolean },
): string | undefined => {
  if (registered.includes(presented)) return presented
  const asked = anyLoopbackPort ? loopback.exec(presented) : null
  if (!asked || (asked[2] !== undefined && !isPort(asked[2]))) return undefined
  return registered.find((uri) => {
    const known = loopback.exec(uri)
    return known !== null && known[1] === asked[1] && known[3] === asked[3]
  })
}

/** Whether a client has registered a redirect URI; any port will do for a public client's loopback address. */
export const isRegistered = (
  redirectUri: string,
  client: { readonly redirectUris: readonly string[]; readonly isConfidential: boolean },
): boolean =>
  matchRedirectUri(client.redirectUris, redirectUri, {
    anyLoopbackPort: !client.isConfidential,
  }) !== undefined

const isPort = (text: string): boolean => Number(text) >= 1 && Number(text) <= 65_535

/** Appends parameters textually, so that the registered URI itself is emitted unchanged (RFC 6749 §4.1.2). */
export const withQuery = (
  uri: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string => {
  const query = encoded(parameters)
  if (query === '') return uri
  if (!uri.includes('?')) return `${uri}?${query}`
  return /[?&]$/.test(uri) ? `${uri}${query}` : `${uri}&${query}`
}

/** The same in the fragment, for response type `token` (RFC 6749 §4.2.2). */
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

/** What a CSP `form-action` must name so that Chromium lets the redirect after our form through. */
export const formActionSource = (uri: string): string => {
  const { protocol, origin, host } = new URL(uri)
  // Chromium takes no IPv6 address as a CSP source, and a private-use scheme has no origin.
  return origin === 'null' || host.startsWith('[') ? protocol : origin
}
