import { z } from 'zod'
import { addressWith } from '../http/request-target.ts'
import type { HttpResponse } from '../http/response.ts'
import { OAuthError } from '../model/oauth-error.ts'
import { Parameters } from '../model/parameters.ts'
import type { FormProblem } from '../pages/form-problem.ts'
import type { Messages } from '../pages/messages/en.ts'
import type { PageName, ViewOf } from '../pages/pages.ts'
import { jsonProblemOf, problemOf, readForm, readScript } from '../protocol/endpoints/forms/form.ts'
import type { FormShape } from '../protocol/endpoints/forms/json-form.ts'
import { renderProblem } from '../protocol/endpoints/responses/problem.ts'
import { renderPage } from '../protocol/endpoints/responses/render.ts'
import { jsonResponse, redirectResponse } from '../protocol/endpoints/responses/responses.ts'
import type { Endpoint } from '../protocol/plug-ins.ts'
import type { ServerContext } from '../protocol/server-context.ts'
import { isForeign } from '../protocol/session/browser.ts'
import type { Notice } from '../protocol/short-lived.ts'
import type { Settings } from '../settings/settings.ts'
import { keepDraft, originOf, takeDraft } from './draft.ts'
import { EditConflict, Unconfirmed } from './edit.ts'
import { type Changed, confirmSeen, leaveNotice, seenAddress } from './notice.ts'
import { describePage, type PageOperations } from './page-operations.ts'
import { checkAdmin, type SettingsRequest, settingsRequestOf } from './settings-request.ts'

/** A refused form, which the page shows again with the same input. */
export interface Refused {
  readonly params: Parameters
  readonly problem?: FormProblem
  /** Whether the stored values have changed since the page was opened. */
  readonly isConflict?: boolean
  /** The names of everything that the change would remove. The user has to confirm the removal. */
  readonly losses?: readonly string[]
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns whether a page for a new object shows the values of a submitted form. */
export const isTyped = (refused: Refused | undefined): refused is Refused =>
  refused !== undefined && refused.params.text !== ''

/** The definition of a settings endpoint: the page that it shows, and the change that its form makes. */
export interface SettingsPage {
  path(settings: Settings): string
  /** The users who may use the endpoint: `admin` for administrators. Omitted for all users. */
  readonly audience?: 'admin'
  /** Describes the requests for the OpenAPI document. */
  readonly operations: (server: ServerContext) => PageOperations
  /** False for an endpoint that only accepts forms. In this case, `show` shows the page that contains the form. */
  readonly isShown?: boolean
  readonly show: (request: SettingsRequest, refused?: Refused) => Promise<Response>
  /** The fields that `change` reads; omitted if `change` reads no field. */
  readonly form?: FormShape
  /**
   * Whether the server stores the fields of a form that a browser sent after the session had ended. Must be false for a
   * form with a secret.
   */
  readonly keepsDraft?: boolean
  /** Returns the sentence that the page shows after too many requests. The default sentence is about wrong passwords. */
  readonly tooMany?: (texts: Messages) => string
  /** Makes the change. Errors about fields must be thrown before the first write. */
  readonly change?: (request: SettingsRequest, params: Parameters) => Promise<Changed>
}

/** Creates a settings endpoint, for browsers and for scripts. */
export const settingsPage = ({
  audience,
  ...page
}: SettingsPage): Endpoint & Pick<SettingsPage, 'show'> => {
  const checked = audience === 'admin' ? forAdministrators(page) : page
  return { ...endpointOf(checked), show: checked.show }
}

const forAdministrators = ({ show, change, ...page }: SettingsPage): SettingsPage => ({
  ...page,
  async show(request, refused) {
    checkAdmin(request)
    return show(request, refused)
  },
  ...(change && {
    async change(request: SettingsRequest, params: Parameters) {
      checkAdmin(request)
      return change(request, params)
    },
  }),
})

const endpointOf = ({
  path,
  operations,
  isShown = true,
  show,
  form,
  keepsDraft = false,
  tooMany = ({ login }) => login.tooMany,
  change,
}: SettingsPage): Endpoint => ({
  path,
  describe: (server) => describePage({ path, form }, operations(server), server),
  methods: [...(isShown ? (['GET'] as const) : []), ...(change ? (['POST'] as const) : [])],
  errors: 'page',
  async handle(http, server) {
    // After the login, the user returns to the page that contains the form, because the browser cannot resend the form.
    const back = isShown ? addressWith(http.path, http.query) : server.ui.links.applications
    const request = await settingsRequestOf(http, server, () =>
      http.method === 'POST' && keepsDraft ? keepDraft(http, server, form ?? noFields, back) : back,
    )
    if (request instanceof Response) return request
    if (http.method !== 'POST' || !change)
      return (await confirmSeen(request)) ?? showDraft(request, show)
    return request.asJson
      ? fromScript(request, form ?? noFields, change)
      : fromPerson(request, { show, change, tooMany })
  },
})

const noFields = z.looseObject({})

/** Shows the page. If the URL names a draft (the stored fields of a form), the form contains these fields. */
const showDraft = async (
  request: SettingsRequest,
  show: SettingsPage['show'],
): Promise<Response> => {
  const draft = await takeDraft(request)
  if (!draft) return show(request)
  const { loggedOut, draftLost } = request.texts.problems
  const { params = new Parameters('') } = draft
  const problem = { sentence: draft.params ? loggedOut : draftLost, isNeutral: true }
  try {
    return await show(request, { params, problem, status: 200 })
  } catch (error) {
    await draft.putBack()
    throw error
  }
}

/** Counts a form of a user. @throws OAuthError 429 after too many forms */
const countForm = ({ server, signedIn }: SettingsRequest): Promise<void> =>
  server.limits.consume('changes', '', String(signedIn.user.id))

const fromScript = async (
  request: SettingsRequest,
  form: FormShape,
  change: NonNullable<SettingsPage['change']>,
): Promise<HttpResponse> => {
  try {
    await countForm(request)
    const params = await readScript(request.http, form)
    const { json = {}, status } = await change(request, params)
    return jsonResponse(json, status)
  } catch (error) {
    const problem = jsonProblemOf(error)
    if (problem) return jsonResponse(problem, 400)
    throw error
  }
}

const fromPerson = async (
  request: SettingsRequest,
  { show, change, tooMany }: Required<Pick<SettingsPage, 'show' | 'change' | 'tooMany'>>,
): Promise<Response> => {
  const { http, server, signedIn, texts } = request
  if (isForeign(http, server.issuer)) return renderProblem(http, server, 'foreign', { status: 403 })
  const params = await readForm(http)
  const [csrfToken, ...more] = params.repeated('csrf_token')
  const isOurs = server.sessions.isCsrfToken(http.header('cookie'), csrfToken)
  if (!isOurs || more.length > 0) {
    // Show the typed fields again only if the page was rendered for the user who is now logged in.
    const userId = originOf(params, server)?.userId ?? signedIn.user.id
    const shown = userId === signedIn.user.id ? params : new Parameters('')
    const problem = { sentence: texts.problems.stale }
    return show(request, { params: shown, problem, status: 403 })
  }
  let isCounted = false
  try {
    await countForm(request)
    isCounted = true
    const changed = await change(request, params)
    // The change is committed, so the request must succeed even if its notice cannot be stored.
    const isStored = await leaveNotice(request, changed.location, changed.notice).then(
      () => true,
      () => false,
    )
    const isLost = !isStored && changed.notice?.secret !== undefined
    if (isLost) return showSecret(request, changed)
    return redirectResponse({ page: changed.location }, server)
  } catch (error) {
    if (error instanceof OAuthError && error.status === 429) {
      const { status, headers } = error
      const sentence = isCounted ? tooMany(texts) : texts.problem.tooMany
      return show(request, { params, problem: { sentence }, status, headers })
    }
    if (error instanceof EditConflict)
      return show(request, { params, isConflict: true, status: 409 })
    if (error instanceof Unconfirmed)
      return show(request, { params, losses: error.losses, status: 200 })
    const problem = problemOf(error, request)
    if (!problem) throw error
    return show(request, { params, problem, status: 400 })
  }
}

// Shows the secret in the response to the form, because the notice with the secret could not be stored.
const showSecret = (
  { http, server, signedIn }: SettingsRequest,
  { location, notice, once }: Changed,
): Promise<Response> => {
  const view = { done: notice?.done, once, secret: notice?.secret ?? '', next: location }
  return renderPage(http, server, 'shownOnce', view, { signedIn })
}

/** Returns a settings page to a browser, and the same content as JSON to a script. */
export const respond = <N extends PageName>(
  request: SettingsRequest,
  name: N,
  {
    view,
    json,
    refused,
    notice = {},
  }: {
    view: ViewOf<N>
    json: () => object
    refused?: Refused | undefined
    /** The notice that the view contains. */
    notice?: Notice
  },
): Promise<Response> | Response =>
  request.asJson
    ? jsonResponse(json()).toResponse()
    : renderSettings(request, name, view, notice, refused)

/** Renders a settings page, with the result of the last form. */
export const renderSettings = <N extends PageName>(
  request: SettingsRequest,
  name: N,
  view: ViewOf<N>,
  notice: Notice,
  refused: Refused | undefined,
): Promise<Response> => {
  const { http, server, signedIn, texts } = request
  const { done, undo, problem } = notice
  return renderPage(http, server, name, view, {
    signedIn,
    seen: seenAddress(request, notice),
    outcome: {
      done,
      undo,
      problem: refused?.problem ?? (problem && { sentence: texts.problems[problem] }),
    },
    status: refused?.status,
    headers: refused?.headers,
  })
}
