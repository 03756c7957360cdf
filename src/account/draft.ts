import type { HttpRequest } from '../http/request.ts'
import { OAuthError } from '../model/oauth-error.ts'
import { Parameters } from '../model/parameters.ts'
import { earliestRowOf } from '../model/user.ts'
import { isPrefetch } from '../protocol/endpoints/authorization/is-prefetch.ts'
import { maxFields, readForm } from '../protocol/endpoints/forms/form.ts'
import type { FormShape } from '../protocol/endpoints/forms/json-form.ts'
import { draftParameter } from '../protocol/endpoints/login/login.ts'
import type { ServerContext } from '../protocol/server-context.ts'
import { isForeign } from '../protocol/session/browser.ts'
import { originOfForm } from '../protocol/session/form-ids.ts'
import type { SettingsRequest } from './settings-request.ts'

/** The lifetime of a draft in milliseconds. The user must log in within this time. */
const life = 1_200_000

/**
 * Stores the fields of a form that a browser sent after the session had ended. The form must come from a page that was
 * rendered for a logged-in user, so that strangers cannot fill the store. Only this user receives the draft. Otherwise,
 * an attacker could fill in a form for another user.
 * @param form the fields to store. Only the main form of a page contains exactly one field `name`; other forms are not
 * stored
 * @param back the URL of the page that contains the form
 * @returns the URL of the page with the name of the draft; `back` if nothing is stored
 */
export const keepDraft = async (
  http: HttpRequest,
  server: ServerContext,
  form: FormShape,
  back: string,
): Promise<string> => {
  if (isForeign(http, server.issuer)) return back
  try {
    const params = await readForm(http)
    const { userId = null, renderedAt = 0 } = originOf(params, server) ?? {}
    if (userId === null || params.repeated('name').length !== 1) return back
    await server.limits.consume('drafts', '', String(userId))
    const expiresAt = server.clock() + life
    const kept = [...Object.keys(form.shape), 'version'].flatMap((name) =>
      params.repeated(name).map((value): [string, string] => [name, value]),
    )
    const draft = {
      userId,
      path: http.path,
      text: new URLSearchParams(kept).toString(),
      renderedAt,
      expiresAt,
    }
    const name = await server.shortLived.drafts.put(draft, expiresAt, String(userId))
    return `${back}${back.includes('?') ? '&' : '?'}${draftParameter}=${name}`
  } catch (error) {
    // The form is invalid, or the user has too many drafts. Continue with the login, without a draft.
    if (error instanceof OAuthError) return back
    throw error
  }
}

/** Returns the user and the render time of the page with the form; undefined without a valid `form_id`. */
export const originOf = (params: Parameters, server: ServerContext) => {
  const [id, ...more] = params.repeated('form_id')
  return id === undefined || more.length > 0 ? undefined : originOfForm(id, server)
}

/** The fields of a form that a browser sent after the session had ended. */
export interface RestoredDraft {
  /** Undefined if the draft has expired, was shown before, or belongs to another user or page. */
  readonly params?: Parameters
  /** Stores the draft again. Call this function if the page with the form could not be shown. */
  putBack(): Promise<void>
}

/**
 * Returns and deletes the draft that the URL names, if the draft belongs to this user and this page. Returns undefined if
 * the URL names no draft, and for a script or a prefetch.
 */
export const takeDraft = async ({
  http,
  server,
  signedIn,
  asJson,
}: SettingsRequest): Promise<RestoredDraft | undefined> => {
  const [name, ...more] = new URLSearchParams(http.query).getAll(draftParameter)
  if (http.method !== 'GET' || asJson || isPrefetch(http)) return undefined
  if (name === undefined) return undefined
  const lost = { putBack: async () => undefined }
  if (more.length > 0) return lost
  const { drafts } = server.shortLived
  const found = await drafts.get(name)
  if (found?.userId !== signedIn.user.id || found.path !== http.path) return lost
  // The application may give the ID of a deleted user to a new user, who must not receive the draft.
  if (found.renderedAt < earliestRowOf(await server.users.find(found.userId))) return lost
  const draft = await drafts.take(name)
  if (!draft) return lost
  return {
    params: new Parameters(draft.text, maxFields),
    putBack: async () =>
      void (await drafts.claim(name, draft, draft.expiresAt, String(draft.userId))),
  }
}
