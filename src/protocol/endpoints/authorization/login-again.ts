import type { SignedIn } from '../../../model/auth.ts'
import type { Parameters } from '../../../model/parameters.ts'
import type { Callers, Environment, Keys } from '../../server-context.ts'

// A request with `prompt=login` (OpenID Connect Core §3.1.2.1) requires a new login. After the login, the server removes
// the prompt from the URL. The server cannot remove the prompt from a stored request (RFC 9126 §4) or a request object
// (RFC 9101 §5). In these cases, the parameter `login_again` records when the server requested the login. The server also
// sets this parameter if an extension requires a login, or if the application reports the time of the login.

/** The parameter that records when the server requested a login. */
export const loginAgain = 'login_again'

interface Asked {
  /** The time at which the server requested the login, in milliseconds since the epoch. */
  readonly at: number
  /** The ID of the session at that time. */
  readonly sessionId: string | undefined
}

const claims = (sent: Parameters) => [
  loginAgain,
  ...sent.repeated('request_uri'),
  ...sent.repeated('request'),
]

/** Returns a new value of `login_again`: the current time and session, sealed. */
export const askedForLogin = (
  sent: Parameters,
  signedIn: SignedIn | undefined,
  { keys, clock }: Keys & Environment,
): string => {
  const asked: Asked = { at: clock(), sessionId: signedIn?.sessionId }
  return keys.seal('transient', JSON.stringify(asked), claims(sent))
}

const askedIn = (sent: Parameters, { keys }: Pick<Keys, 'keys'>): Asked | undefined => {
  const [sealed = ''] = sent.repeated(loginAgain)
  const text = keys.open('transient', sealed, claims(sent))
  return text === undefined ? undefined : JSON.parse(text)
}

/** Returns whether the user has logged in since the server requested a login; false if `login_again` is missing. */
export const hasLoggedInAgain = (
  sent: Parameters,
  signedIn: SignedIn,
  { keys, sessions }: Keys & Pick<Callers, 'sessions'>,
): boolean => {
  const { sessionId, loggedInAt } = signedIn
  const asked = askedIn(sent, { keys })
  if (!asked) return false
  // If the application does not report the time of the login, trust that its login page has required a new login.
  if (loggedInAt === null) return true
  // An application may retain the session ID after a new login, and may report the time of the login in whole seconds.
  return sessions.rowOf(signedIn) === null
    ? loggedInAt >= Math.floor(asked.at / 1000) * 1000
    : sessionId !== asked.sessionId && loggedInAt >= asked.at
}

/**
 * Returns whether the browser comes back from the login page of the application. If the user did not log in there,
 * another redirect to that page could start an endless loop.
 */
export const returnsFromApplication = (
  sent: Parameters,
  { keys, sessions }: Keys & Pick<Callers, 'sessions'>,
): boolean => sessions.isHosted && askedIn(sent, { keys }) !== undefined
