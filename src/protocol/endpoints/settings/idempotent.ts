import { setTimeout as pause } from 'node:timers/promises'
import type { SentForm } from './form.ts'
import type { Changed } from './notice.ts'
import { leaveNotice } from './notice.ts'
import type { SettingsRequest } from './settings-request.ts'

/** The period in milliseconds in which the same form from the same session is treated as a repetition. */
const repetitionPeriod = 600_000
/** The corresponding period for forms without a one-time ID. Short, so that only double clicks are repetitions. */
const doubleClickPeriod = 2_000
/** The time in milliseconds after which a form may be processed again if its first request has not finished. */
const abandonedAfter = 15_000
/** The time in milliseconds for which a repetition waits for the first request. */
const maxWait = 5_000

/** The result of a form. */
export interface Done {
  /** The URL to which the browser is redirected. */
  readonly location: string
  /** The change whose secret could not be stored in a notice. Only the response to this form can show the secret. */
  readonly unsaved?: Changed
}

/**
 * Processes a form once, even if a double click or a reload sends the form twice. Both requests return the same
 * location.
 * @returns undefined if the first request is still being processed
 */
export const idempotent = async (
  request: SettingsRequest,
  form: SentForm,
  work: () => Promise<Changed>,
): Promise<Done | undefined> => {
  const { http, server, signedIn } = request
  const { params, text } = form
  const name = `${signedIn.sessionId} ${http.path} ${text}`
  const { clock } = server
  const owner = String(signedIn.user.id)
  const { forms } = server.shortLived
  if (!(await forms.claim(name, { location: null }, clock() + abandonedAfter, owner))) {
    for (let waited = 0; waited < maxWait; waited += 50) {
      const outcome = await forms.get(name)
      if (outcome?.location) return { location: outcome.location }
      // The first request was refused and its claim was deleted, so process this request as new.
      if (!outcome) return idempotent(request, form, work)
      await pause(50)
    }
    return undefined
  }
  const changed = await work().catch(async (error: unknown) => {
    await forms.delete(name)
    throw error
  })
  // The change is committed, so the request must succeed even if one of the writes below fails.
  const { location, notice } = changed
  const isStored = await succeeds(leaveNotice(request, location, notice))
  const hasId = params.repeated('form_id').length > 0
  await succeeds(
    forms.set(name, { location }, clock() + (hasId ? repetitionPeriod : doubleClickPeriod), owner),
  )
  return { location, ...(!isStored && notice?.secret !== undefined && { unsaved: changed }) }
}

const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )
