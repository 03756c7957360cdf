import { sha256 } from '../../../crypto/digest.ts'
import type { SignedIn } from '../../../model/auth.ts'
import type { Parameters } from '../../../model/parameters.ts'
import type { Callers, Configuration, Environment, Identity, Keys } from '../../server-context.ts'
import { openHeld, type Sealing, sealHeld } from '../../session/held-values.ts'

// A request with `prompt=login` (OpenID Connect Core §3.1.2.1) requires a new login. After the login, the server removes
// the prompt from the URL. The server cannot remove the prompt from a stored request (RFC 9126 §4) or a request object
// (RFC 9101 §5). In these cases, the server adds the parameter `login_again` to the URL of the repeated request. The
// server also adds this parameter if an extension requires a login, or if the application reports the time of the login.
//
// The login page of this server replaces the value of the parameter by the proof of the login. The proof is valid for
// the request, for the new session, and for a short time. A login page of the application cannot create a proof, so the
// time of the login that the application reports must follow the time in the parameter.

/** The parameter that records that the server requested a login, and later that the user has logged in. */
export const loginAgain = 'login_again'

/** Parameters that the repeated request must not contain: secrets, and an earlier value of `login_again`. */
export const notRepeated: readonly string[] = ['client_secret', 'access_token', loginAgain]

/** The maximum time between the login and the repeated request, in milliseconds. The browser repeats it at once. */
const proofLifetime = 120_000
/** The maximum time for a login at the application, in milliseconds. */
const timeToLogIn = 3_600_000

type Purpose = 'login_requested' | 'logged_in'

interface Facts {
  /** The time of the login, or of the server's request for a login, in milliseconds since the epoch. */
  readonly at: number
  readonly until: number
  /** The ID of the session after the login. For a requested login, the ID of the session at that time. */
  readonly sessionId: string | undefined
}

/** Returns a digest of a request, because a value is valid for one request only. */
const requestIn = (query: string): readonly string[] => {
  const pairs = [...new URLSearchParams(query)].filter(([name]) => !notRepeated.includes(name))
  return [sha256(JSON.stringify(pairs))]
}

const lifetimes = { login_requested: timeToLogIn, logged_in: proofLifetime }

const seal = (
  purpose: Purpose,
  sessionId: string | undefined,
  query: string,
  sealing: Sealing,
): string => {
  const at = sealing.clock()
  const facts: Facts = { at, until: at + lifetimes[purpose], sessionId }
  return sealHeld(purpose, requestIn(query), facts, sealing)
}

const open = (purpose: Purpose, sent: Parameters, sealing: Sealing) =>
  openHeld<Facts>(purpose, requestIn(sent.text), sent.repeated(loginAgain)[0], sealing)

/**
 * Returns the value of `login_again` for a login that the server requests.
 * @param query the request that the browser repeats after the login
 */
export const askedForLogin = (
  query: string,
  signedIn: SignedIn | undefined,
  server: Keys & Environment,
): string => seal('login_requested', signedIn?.sessionId, query, server)

/**
 * Adds the proof of a login to the URL that the browser opens after the login, if this URL is an authorization request
 * that required a login.
 * @param sessionId the ID of the new session
 */
export const withLoginProof = (
  next: string,
  sessionId: string | undefined,
  server: Keys & Environment & Configuration & Identity,
): string => {
  const { basePath, settings } = server
  const endpoint = `${basePath}${settings.oauthPrefix}/authorize?`
  if (!next.startsWith(endpoint)) return next
  const query = next.slice(endpoint.length)
  if (!new URLSearchParams(query).has(loginAgain)) return next
  const kept = query.split('&').filter((pair) => !new URLSearchParams(pair).has(loginAgain))
  const proof = seal('logged_in', sessionId, query, server)
  return `${endpoint}${[...kept, `${loginAgain}=${proof}`].join('&')}`
}

/** Returns whether the user has logged in since the server requested a login; false if `login_again` is missing. */
export const hasLoggedInAgain = (
  sent: Parameters,
  { sessionId, loggedInAt }: SignedIn,
  server: Keys & Environment & Pick<Callers, 'sessions'>,
): boolean => {
  if (!server.sessions.isHosted) return open('logged_in', sent, server)?.sessionId === sessionId
  const asked = open('login_requested', sent, server)
  if (!asked) return false
  // If the application does not report the time of the login, trust that its login page has required a new login. An
  // application may report the time in whole seconds, and may retain the session ID after a new login.
  return loggedInAt === null || loggedInAt >= Math.floor(asked.at / 1000) * 1000
}

/**
 * Returns whether the browser comes back from the login page of the application. If the user did not log in there,
 * another redirect to that page could start an endless loop.
 */
export const returnsFromApplication = (
  sent: Parameters,
  server: Keys & Environment & Pick<Callers, 'sessions'>,
): boolean => server.sessions.isHosted && open('login_requested', sent, server) !== undefined
