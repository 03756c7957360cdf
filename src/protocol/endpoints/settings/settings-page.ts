import { addressWith } from '../../../http/addresses.ts'
import type { Answer } from '../../../http/answer.ts'
import type { Parameters } from '../../../model/parameters.ts'
import type { Pages, ViewOf } from '../../../pages/pages.ts'
import type { FormProblem } from '../../../pages/parts/forms.ts'
import type { Settings } from '../../../settings/settings.ts'
import type { Endpoint } from '../../plug-ins.ts'
import { isForeign } from '../../session/browser.ts'
import { jsonAnswer, redirectAnswer } from '../responses/answers.ts'
import { renderProblem } from '../responses/problem.ts'
import { renderPage } from '../responses/render.ts'
import { jsonProblemOf, problemOf, readForm } from './form.ts'
import { idempotent } from './idempotent.ts'
import type { Changed } from './notice.ts'
import { type SettingsRequest, settingsRequestOf } from './settings-request.ts'

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
  readonly show: (request: SettingsRequest, refused?: Refused) => Promise<Response>
  /** @throws InvalidField, ScopeDoesNotExists: nothing was written, and the form is shown again */
  readonly change?: (request: SettingsRequest, params: Parameters) => Promise<Changed>
}

/** An address of the settings, for people and for scripts. */
export const settingsPage = ({ path, isShown = true, show, change }: SettingsPage): Endpoint => ({
  path,
  methods: [...(isShown ? (['GET'] as const) : []), ...(change ? (['POST'] as const) : [])],
  errors: 'page',
  async handle(http, server) {
    // After the login nobody can send the form again: they come back to where it stands.
    const back = isShown ? addressWith(http.path, http.query) : server.ui.links.applications
    const request = await settingsRequestOf(http, server, back)
    if (request instanceof Response) return request
    if (http.method !== 'POST' || !change) return show(request)
    return request.asJson ? fromScript(request, change) : fromPerson(request, show, change)
  },
})

const fromScript = async (
  request: SettingsRequest,
  change: NonNullable<SettingsPage['change']>,
): Promise<Answer> => {
  const { params } = await readForm(request.http, true)
  try {
    const { json = {}, status } = await change(request, params)
    return jsonAnswer(json, status)
  } catch (error) {
    const problem = jsonProblemOf(error)
    if (problem) return jsonAnswer(problem, 400)
    throw error
  }
}

const fromPerson = async (
  request: SettingsRequest,
  show: SettingsPage['show'],
  change: NonNullable<SettingsPage['change']>,
): Promise<Response> => {
  const { http, server, texts } = request
  if (isForeign(http, server.issuer)) return renderProblem(http, server, 'foreign', { status: 403 })
  const form = await readForm(http, false)
  const { params } = form
  const [csrfToken, ...more] = params.repeated('csrf_token')
  const isOurs = server.sessions.isCsrfToken(http.headers.get('cookie'), csrfToken)
  if (!isOurs || more.length > 0) {
    return show(request, { params, problem: { sentence: texts.problems.stale }, status: 403 })
  }
  try {
    const outcome = await idempotent(request, form, () => change(request, params))
    if (outcome?.unkept) return showSecret(request, outcome.unkept)
    if (outcome) return redirectAnswer(outcome.location)
    return show(request, { params, problem: { sentence: texts.problems.atWork }, status: 409 })
  } catch (error) {
    const problem = problemOf(error, request)
    if (!problem) throw error
    return show(request, { params, problem, status: 400 })
  }
}

// The secret stands in the answer itself, since no page could show it later.
const showSecret = (
  { http, server, signedIn }: SettingsRequest,
  { location, notice, once }: Changed,
): Promise<Response> => {
  const view = { done: notice?.done, once, secret: notice?.secret ?? '', next: location }
  return renderPage(http, server, 'shownOnce', view, { signedIn })
}

/** Shows a page of the settings to a person, or its content to a script. */
export const answer = <N extends keyof Pages>(
  { http, server, signedIn, asJson }: SettingsRequest,
  name: N,
  { view, json, refused }: { view: ViewOf<N>; json: () => object; refused?: Refused | undefined },
): Promise<Response> | Response =>
  asJson
    ? jsonAnswer(json()).toResponse()
    : renderPage(http, server, name, view, { signedIn, status: refused?.status })
