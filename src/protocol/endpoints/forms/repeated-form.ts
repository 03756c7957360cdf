import { setTimeout as pause } from 'node:timers/promises'
import type { HttpRequest } from '../../../http/request.ts'
import { HttpResponse } from '../../../http/response.ts'
import { networkOf } from '../../../model/network.ts'
import type { ServerContext } from '../../server-context.ts'
import { browserOf, isForeign } from '../../session/browser.ts'
import type { FormAnswer } from '../../short-lived.ts'
import { prefersJson } from '../responses/prefers-json.ts'
import { renderProblem } from '../responses/problem.ts'
import { readForm } from './form.ts'

/** The period in milliseconds in which a repetition of a form receives the response to the first submission. */
const period = 60_000
/** The period for redirects within this server. Long, so that going back and sending a form again changes nothing. */
const redirectPeriod = 600_000
/** The period for forms without a one-time value. Short, so that only double clicks are repetitions. */
const doubleClickPeriod = 2_000
/** The time in milliseconds after which a form may be processed again if its first request has not finished. */
const abandonedAfter = 15_000
/** The time in milliseconds for which a repetition waits for the first request. */
const maxWait = 5_000
const firstPause = 50
const longestPause = 400

/**
 * The fields with a value that the server accepts only once. Every form of the built-in pages contains one of them,
 * except the login form, whose CSRF token is only valid until the login.
 */
const oneTimeFields = [
  'form_id',
  'authorization_request',
  'device_confirmation',
  'logout_request',
  'token',
]

type Answer = () => Promise<Response | HttpResponse>

/**
 * Processes a form of a page once, even if a double click, the key Enter, a reload or the back button sends the form
 * again. A repetition receives the response to the first submission, because browsers ignore the response to the
 * request that they abandoned. A repetition has the same URL, the same content and the same browser. The forms of
 * scripts and of other sites are not affected.
 */
export const answerOnce = async (
  http: HttpRequest,
  server: ServerContext,
  answer: Answer,
): Promise<Response | HttpResponse> => {
  if (prefersJson(http) || isForeign(http, server.issuer)) return answer()
  const owner = await server.sessions.formOwner(browserOf(http))
  const params = owner === undefined ? undefined : await readForm(http).catch(() => undefined)
  const [csrfToken, ...more] = params?.repeated('csrf_token') ?? []
  if (!owner || !params || csrfToken === undefined || more.length > 0) return answer()
  const { clock } = server
  const { forms } = server.shortLived
  const nameFor = (browser: string): string =>
    nameOf([browser, http.path, http.query, params.text], server)
  const name = nameFor(owner)
  if (!server.sessions.isCsrfToken(http.header('cookie'), csrfToken)) {
    // The browser may have sent the login form a second time after it had received the cookie of the new session.
    const earlier = await forms.get(name).catch(() => undefined)
    return earlier?.answer ? responseOf(earlier.answer) : answer()
  }
  // Count values of each lifetime separately. The first value to expire is removed first, so values with a long lifetime
  // would displace the others.
  const roomFor = (lifetime: number): string => `${networkOf(http.address)} ${lifetime}`
  const isLogin = http.path === `${server.basePath}${server.settings.loginPath}`
  const processed = async (): Promise<FormAnswer | HttpResponse | Response> => {
    const response = await answer()
    if (!(response instanceof Response) || !isPage(response)) return response
    const { status, headers, body } = response
    const kept = { status, headers: [...headers], body: body && (await response.text()) }
    const newOwners = server.sessions.formOwnersIn(headers.getSetCookie())
    if (status >= 400 || (isLogin && newOwners.length === 0)) return kept
    const isOneTime =
      newOwners.length > 0 || oneTimeFields.some((field) => params.repeated(field).length > 0)
    const lifetime = isOneTime ? periodOf(kept) : doubleClickPeriod
    const until = clock() + lifetime
    if (isLogin) {
      // Another node may have accepted the same form at the same time. The first session remains.
      const claimed = forms.claim(name, { answer: kept }, until, roomFor(lifetime))
      const first = (await claimed.catch(() => true)) ? undefined : (await forms.get(name))?.answer
      if (first) {
        const cookie = headers.getSetCookie().map((each) => each.split(';')[0])
        await server.sessions.signOut({ ...browserOf(http), cookie: cookie.join('; ') })
        return first
      }
    }
    for (const each of [owner, ...newOwners]) {
      // The change is committed, so the request must succeed even if its response is too large or cannot be stored. The
      // claim then remains, so that a repetition changes nothing.
      await ignoreErrors(forms.set(nameFor(each), { answer: kept }, until, roomFor(lifetime)))
    }
    return kept
  }
  if (isLogin) return responseOf(await logInOnce(name, server, processed))
  for (let waited = 0, next = firstPause; ; next = Math.min(2 * next, longestPause)) {
    // During an outage of the short-lived values, a repetition is not recognized, but the form is processed.
    const until = clock() + abandonedAfter
    const claimed = forms.claim(name, { answer: null }, until, roomFor(abandonedAfter))
    if (await claimed.catch(() => true)) break
    const earlier = await forms.get(name)
    if (earlier?.answer) return responseOf(earlier.answer)
    if (waited >= maxWait) return renderProblem(http, server, 'atWork', { status: 409 })
    // If the first request failed, its claim was deleted, so process this request.
    if (earlier) await pause(next)
    waited += next
  }
  const response = await processed()
  // The user can correct the form, or send the same form again.
  const isAccepted = !(response instanceof Response) && response.status < 400
  if (!isAccepted || response instanceof HttpResponse) await ignoreErrors(forms.delete(name))
  return responseOf(response)
}

/**
 * Processes a login. If the same form arrives while the first is processed, or within the period after a login, it
 * receives the same response. The store is not used, because a refused login must cost little.
 */
const logInOnce = async (
  name: string,
  { logins, clock }: ServerContext,
  work: () => Promise<FormAnswer | HttpResponse | Response>,
): Promise<FormAnswer | HttpResponse | Response> => {
  // Do not wait between the look-up and the entry, because two requests could then both be the first.
  const earlier = logins.get(name)
  if (earlier && earlier.until > clock()) {
    const response = await earlier.answer
    // The body of a response that is not a page can be read only once.
    return response instanceof Response ? work() : response
  }
  const answer = work()
  logins.set(name, { answer, until: Number.POSITIVE_INFINITY })
  let isKept = false
  try {
    const response = await answer
    isKept = !(response instanceof Response) && response.status < 400
    return response
  } finally {
    if (isKept) logins.set(name, { answer, until: clock() + period })
    else logins.delete(name)
  }
}

/** Returns a name that does not reveal the content of the form, which may contain a password. */
const nameOf = (parts: readonly string[], { keys }: Pick<ServerContext, 'keys'>): string =>
  keys.lookupDigests(JSON.stringify(parts))[0] ?? ''

const periodOf = ({ headers }: FormAnswer): number => {
  const isWithin = headers.some(([name, value]) => name === 'location' && value.startsWith('/'))
  return isWithin && !headers.some(([name]) => name === 'set-cookie') ? redirectPeriod : period
}

const responseOf = (answer: FormAnswer | HttpResponse | Response): Response | HttpResponse => {
  if (answer instanceof HttpResponse || answer instanceof Response) return answer
  const { status, headers, body } = answer
  return new Response(body, {
    status,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
  })
}

/** Returns whether a response is a page or a redirect, and not a file, such as an export. */
const isPage = ({ headers, body }: Response): boolean =>
  body === null || headers.get('content-type')?.startsWith('text/html') === true

const ignoreErrors = (work: Promise<unknown>): Promise<unknown> => work.catch(() => undefined)
