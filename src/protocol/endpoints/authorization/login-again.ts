import type { SignedIn } from '../../../model/auth.ts'
import type { Parameters } from '../../../model/parameters.ts'
import type { Environment, Keys } from '../../server-context.ts'

// A request that is kept here, and only named in the address (RFC 9126 §4), goes on asking for its prompt=login (OpenID
// Connect Core §3.1.2.1). What fulfils it comes back beside the name: to have looked at a page is no login.

/** The parameter that comes back from the login that such a request asks for. */
export const loginAgain = 'login_again'

interface Asked {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Who was logged in then. */
  readonly sessionId: string | undefined
}

const claims = (sent: Parameters) => [loginAgain, ...sent.repeated('request_uri')]

/** What a request takes along to the login: when it asked for one, and in which session. */
export const askedForLogin = (
  sent: Parameters,
  signedIn: SignedIn | undefined,
  { keys, clock }: Keys & Environment,
): string => {
  const asked: Asked = { at: clock(), sessionId: signedIn?.sessionId }
  return keys.seal('transient', JSON.stringify(asked), claims(sent))
}

/** Whether the request comes from the login that it asked for, and somebody has logged in there. */
export const hasLoggedInAgain = (
  sent: Parameters,
  { sessionId, loggedInAt }: SignedIn,
  { keys }: Keys,
): boolean => {
  const [sealed = ''] = sent.repeated(loginAgain)
  const text = keys.open('transient', sealed, claims(sent))
  if (text === undefined) return false
  // The application answers for its own login.
  if (loggedInAt === null) return true
  const asked: Asked = JSON.parse(text)
  return sessionId !== asked.sessionId && loggedInAt >= asked.at
}
