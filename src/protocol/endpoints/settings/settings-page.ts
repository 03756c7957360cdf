import { addressWith } from '../../../http/addresses.ts'
import type { Answer } from '../../../http/answer.ts'
import type { Parameters } from '../../../model/parameters.ts'
import type { Pages, ViewOf } from '../../../pages/pages.ts'
import type { FormProblem } from '../../../pages/parts/form-problem.ts'
import type { Settings } from '../../../settings/settings.ts'
import type { Endpoint } from '../../extension.ts'
import { isForeign } from '../../session/browser.ts'
import { jsonAnswer, redirectAnswer } from '../responses/answers.ts'
import { renderProblem } from '../responses/problem.ts'
import { renderPage } from '../responses/render.ts'
import { jsonProblemOf, problemOf, readForm } from './form.ts'
import { idempotent } from './idempotent.ts'
import type { Changed } from './notice.ts'
import { type Visit, visitOf } from './visit.ts'

/** A form that could not be taken, to be shown again as it was typed. */
export interface Refused {
  readonly params: Parameters
  readonly problem: FormProblem
  readonly status: number
}

/** One address of the settings: what it shows, and what a form sent to it does. */
export interface SettingsPage {
  path(settings: Settings): string
  /** False for an address that only takes forms; then `show` is the page that its form stands on. */
  readonly isShown?: boolean
  readonly show: (visit: Visit, refused?: Refused) => Promise<Response>
  /** @throws InvalidField, ScopeDoesNotExists: nothing was written, and the form is shown again */
  readonly change?: (visit: Visit, params: Parameters) => Promise<Changed>
}

/** An address of the settings, for people and for scripts. */
export const settingsPage = ({ path, isShown = true, show, change }: SettingsPage): Endpoint => ({
  path,
  methods: [...(isShown ? (['GET'] as const) : []), ...(change ? (['POST'] as const) : [])],
  errors: 'page',
  async handle(http, server) {
    // After the login nobody can send the form again: they come back to where it stands.
    const back = isShown ? addressWith(http.path, http.query) : server.links.applications
    const visit = await visitOf(http, server, back)
    if (visit instanceof Response) return visit
    if (http.method !== 'POST' || !change) return show(visit)
    return visit.asJson ? fromScript(visit, change) : fromPerson(visit, show, change)
  },
})

const fromScript = async (
  visit: Visit,
  change: NonNullable<SettingsPage['change']>,
): Promise<Answer> => {
  const { params } = await readForm(visit.http, true)
  try {
    const { json = {}, status } = await change(visit, params)
    return jsonAnswer(json, status)
  } catch (error) {
    const problem = jsonProblemOf(error)
    if (problem) return jsonAnswer(problem, 400)
    throw error
  }
}

const fromPerson = async (
  visit: Visit,
  show: SettingsPage['show'],
  change: NonNullable<SettingsPage['change']>,
): Promise<Response> => {
  const { http, server, texts } = visit
  if (isForeign(http, server.issuer)) return renderProblem(http, server, 'foreign', { status: 403 })
  const form = await readForm(http, false)
  const { params } = form
  const [csrfToken, ...more] = params.repeated('csrf_token')
  const isOurs = server.sessions.isCsrfToken(http.headers.get('cookie'), csrfToken)
  if (!isOurs || more.length > 0) {
    return show(visit, { params, problem: { sentence: texts.problems.stale }, status: 403 })
  }
  try {
    const outcome = await idempotent(visit, form, () => change(visit, params))
    if (outcome?.unkept) return showSecret(visit, outcome.unkept)
    if (outcome) return redirectAnswer(outcome.location)
    return show(visit, { params, problem: { sentence: texts.problems.atWork }, status: 409 })
  } catch (error) {
    const problem = problemOf(error, visit)
    if (!problem) throw error
    return show(visit, { params, problem, status: 400 })
  }
}

// The secret stands in the answer itself, since no page could show it later.
const showSecret = (
  { http, server, signedIn }: Visit,
  { location, notice, once }: Changed,
): Promise<Response> => {
  const view = { done: notice?.done, once, secret: notice?.secret ?? '', next: location }
  return renderPage(http, server, 'shownOnce', view, { signedIn })
}

/** Shows a page of the settings to a person, or its content to a script. */
export const answer = <N extends keyof Pages>(
  { http, server, signedIn, asJson }: Visit,
  name: N,
  { view, json, refused }: { view: ViewOf<N>; json: () => object; refused?: Refused | undefined },
): Promise<Response> | Response =>
  asJson
    ? jsonAnswer(json()).toResponse()
    : renderPage(http, server, name, view, { signedIn, status: refused?.status })
