import type { SignedIn } from '../../../model/auth.ts'
import type { Parameters } from '../../../model/parameters.ts'
import type { Environment, Keys } from '../../server-context.ts'

// A stored request, to which the URL only refers (RFC 9126 §4), keeps its prompt=login (OpenID Connect Core
// §3.1.2.1).
// A parameter beside the reference records the login that was asked for. Opening the login page is not enough.

/** The parameter that returns from the login. */
export const loginAgain = 'login_again'

interface Asked {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The session at that time. */
  readonly sessionId: string | undefined
}

const claims = (sent: Parameters) => [loginAgain, ...sent.repeated('request_uri')]

/** Returns the parameters to add for the login: the time and the session of the request, sealed. */
export const askedForLogin = (
  sent: Parameters,
  signedIn: SignedIn | undefined,
  { keys, clock }: Keys & Environment,
): string => {
  const asked: Asked = { at: clock(), sessionId: signedIn?.sessionId }
  return keys.seal('transient', JSON.stringify(asked), claims(sent))
}

/** Returns whether the request returns from the login that it asked for, and the user logged in there. */
export const hasLoggedInAgain = (
  sent: Parameters,
  { sessionId, loggedInAt }: SignedIn,
  { keys }: Keys,
): boolean => {
  const [sealed = ''] = sent.repeated(loginAgain)
  const text = keys.open('transient', sealed, claims(sent))
  if (text === undefined) return false
  // With its own login, the application is responsible for asking again.
  if (loggedInAt === null) return true
  const asked: Asked = JSON.parse(text)
  return sessionId !== asked.sessionId && loggedInAt >= asked.at
}
