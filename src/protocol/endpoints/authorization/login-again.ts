import { sha256 } from '../../../crypto/digest.ts'
import type { SignedIn } from '../../../model/auth.ts'
import type { Parameters } from '../../../model/parameters.ts'
import type { Callers, Configuration, Environment, Identity, Keys } from '../../server-context.ts'

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

type Purpose = 'login requested' | 'logged in'

interface Facts {
  /** The time of the login, or of the server's request for a login, in milliseconds since the epoch. */
  readonly at: number
  /** The ID of the session after the login. For a requested login, the ID of the session at that time. */
  readonly sessionId: string | undefined
}

/** Returns the claims of a value, which is valid only for one purpose and for one request. */
const claimsOf = (purpose: Purpose, query: string): readonly string[] => {
  const pairs = [...new URLSearchParams(query)].filter(([name]) => !notRepeated.includes(name))
  return [loginAgain, purpose, sha256(JSON.stringify(pairs))]
}

const seal = (purpose: Purpose, facts: Facts, query: string, { keys }: Keys): string =>
  keys.seal('transient', JSON.stringify(facts), claimsOf(purpose, query))

const open = (purpose: Purpose, sent: Parameters, { keys }: Pick<Keys, 'keys'>) => {
  const [sealed = ''] = sent.repeated(loginAgain)
  const text = keys.open('transient', sealed, claimsOf(purpose, sent.text))
  return text === undefined ? undefined : (JSON.parse(text) as Facts)
}

/**
 * Returns the value of `login_again` for a login that the server requests.
 * @param query the request that the browser repeats after the login
 */
export const askedForLogin = (
  query: string,
  signedIn: SignedIn | undefined,
  server: Keys & Environment,
): string =>
  seal('login requested', { at: server.clock(), sessionId: signedIn?.sessionId }, query, server)

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
  const { basePath, settings, clock } = server
  const endpoint = `${basePath}${settings.oauthPrefix}/authorize?`
  if (!next.startsWith(endpoint)) return next
  const query = next.slice(endpoint.length)
  if (!new URLSearchParams(query).has(loginAgain)) return next
  const kept = query.split('&').filter((pair) => !new URLSearchParams(pair).has(loginAgain))
  const proof = seal('logged in', { at: clock(), sessionId }, query, server)
  return `${endpoint}${[...kept, `${loginAgain}=${proof}`].join('&')}`
}

/** Returns whether the user has logged in since the server requested a login; false if `login_again` is missing. */
export const hasLoggedInAgain = (
  sent: Parameters,
  { sessionId, loggedInAt }: SignedIn,
  { keys, sessions, clock }: Keys & Environment & Pick<Callers, 'sessions'>,
): boolean => {
  if (!sessions.isHosted) {
    const proof = open('logged in', sent, { keys })
    return proof?.sessionId === sessionId && clock() - proof.at <= proofLifetime
  }
  const asked = open('login requested', sent, { keys })
  if (!asked || clock() - asked.at > timeToLogIn) return false
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
  { keys, sessions }: Keys & Pick<Callers, 'sessions'>,
): boolean => sessions.isHosted && open('login requested', sent, { keys }) !== undefined
